"""Compiles the TTIR of a specialisation to a binary of the device, by stages that need no code of the candidate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget

from engine.compiler.options import triton_options
from engine.compiler.stages import packed_stages, recording
from engine.devices.hardware.targets import target_named
from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.reader import read_module
from engine.protocol.proof.binaries import (
    MAP_BYTES,
    MOST_BINARY_BYTES,
    BinaryRequest,
    KernelBinary,
    MapLayout,
)

# Triton's compiled kernels and their metadata are not typed: they are Any throughout this file.

_ENTRY = re.compile(r"\.entry\s+[\w$.]+\s*\(([^)]*)\)")
_PARAMETER = re.compile(r"\.param\s+\.[subf](8|16|32|64)\b(?![^,]*\[)|\.param\s+\.align\s+64\s+\.b8\s+[\w$.]+\[(128)\]")
_MESSAGE_CHARACTERS = 300
_REFUSED = {
    "launch_cooperative_grid": "a cooperative launch",
    "launch_pdl": "a launch that depends on the one before it",
    "profile_scratch_size": "a kernel that profiles itself",
}
"""Metadata of kernels whose launches need what a replay does not provide."""


def compile_ttir(request: BinaryRequest, folder: Path) -> KernelBinary:
    """The binary of a module for a device; `folder` is for files of the compiler.

    Triton's parser gets only text that the reader of the machine accepts: it may abort the process at other text.

    Raises:
        UnsupportedError: the module cannot be replayed, does not compile, or its launch needs what a replay does
            not provide.
    """
    target = target_named(request.target)
    path = folder / "kernel.ttir"
    path.write_text(request.ttir)
    gpu = GPUTarget(target.backend, target.architecture, target.warp_size)
    try:
        read_module(request.ttir)
        with recording(gpu) as metadata:
            compiled = triton.compile(str(path), target=gpu, options=triton_options(request.options))
        return _binary(compiled, request.kernel, packed_stages(compiled, metadata))
    except UnsupportedError:
        raise
    except MachineError as error:
        raise UnsupportedError(f"the TTIR of {request.kernel} is not read: {error}") from error
    except Exception as error:  # Triton raises what MLIR, LLVM and ptxas make of a module: every kind is its fault
        words = " ".join(f"{type(error).__name__}: {error}".split())[:_MESSAGE_CHARACTERS]
        raise UnsupportedError(f"the TTIR of {request.kernel} does not compile: {words}") from error


def parameters_of(ptx: str) -> tuple[int, ...]:
    """The bytes of each parameter of the one entry of a PTX text.

    Raises:
        UnsupportedError: there is no entry or there are several, or a parameter is an array.
    """
    entries = _ENTRY.findall(ptx)
    if len(entries) != 1:
        raise UnsupportedError(f"a module with {len(entries)} kernels")
    declared = [text for text in entries[0].split(",") if text.strip()]
    found = [_PARAMETER.search(text) for text in declared]
    if any(one is None for one in found):
        raise UnsupportedError("a kernel with an array passed by value")
    return tuple(int(one[1]) // 8 if one[1] else int(one[2]) for one in found if one is not None)


def _binary(compiled: Any, kernel: str, stages: bytes) -> KernelBinary:
    metadata = compiled.metadata
    for field, words in _REFUSED.items():
        if getattr(metadata, field, None):
            raise UnsupportedError(f"{kernel}: {words}")
    if getattr(metadata, "num_ctas", 1) != 1:
        raise UnsupportedError(f"{kernel}: clusters of blocks")
    code, ptx = compiled.asm.get("cubin"), compiled.asm.get("ptx")
    if not isinstance(code, bytes) or ptx is None:
        raise UnsupportedError(f"{kernel}: this device has no CUDA binaries")
    parameters = parameters_of(str(ptx))
    maps = tuple(map(MapLayout.of, getattr(metadata, "tensordesc_meta", None) or ()))
    if parameters.count(MAP_BYTES) != len(maps):
        raise UnsupportedError(
            f"{kernel}: {parameters.count(MAP_BYTES)} tensor maps, of which {len(maps)} are described"
        )
    if len(code) > MOST_BINARY_BYTES:
        raise UnsupportedError(f"{kernel}: a binary of {len(code):,} bytes, more than {MOST_BINARY_BYTES:,}")
    return KernelBinary(
        name=str(metadata.name),
        code=code,
        threads=int(metadata.num_warps) * int(metadata.target.warp_size),
        shared_bytes=int(metadata.shared),
        scratch_bytes=int(getattr(metadata, "global_scratch_size", 0) or 0),
        parameters=parameters,
        maps=maps,
        stages=stages,
    )
