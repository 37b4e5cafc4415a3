"""Command lines of nvcc, the C++ compiler and the linker, with the flags that torch.utils.cpp_extension gives them."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from pathlib import Path

import torch

from engine.model.native import NativeLanguage
from engine.protocol import BuildExtension

_TORCH = Path(torch.__file__).parent
_STANDARD = "-std=c++20"  # required by torch 2.13; the headers of older versions compile with it
_NVCC_FLAGS = (
    "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr", "--compiler-options", "-fPIC",
    "-lineinfo", "-Xptxas", "-v",
)  # fmt: skip


def compile_command(command: BuildExtension, language: NativeLanguage, unit: str, made: str) -> list[str]:
    """Compile the file `unit` to the object file `made`."""
    request = command.request
    common = [
        f"-DTORCH_EXTENSION_NAME={request.name}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        *(f"-I{folder}" for folder in request.include_folders),
        *(part for folder in _system_folders(command) for part in ("-isystem", folder)),
    ]
    if language is NativeLanguage.CPP:
        return [command.cxx, "-c", unit, "-o", made, *common, "-fPIC", _STANDARD, *request.cxx_flags]
    own = request.cuda_flags
    standard = () if any(flag.startswith("-std=") for flag in own) else (_STANDARD,)
    return [command.nvcc, "-c", unit, "-o", made, *common, *_NVCC_FLAGS, *_architecture(command), *own, *standard]


def link_command(command: BuildExtension, objects: Sequence[str], made: str) -> list[str]:
    """Link object files to the library `made`."""
    libraries = ["-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"]
    folders = [str(_TORCH / "lib")]
    if command.request.with_cuda:
        libraries += ["-lc10_cuda", "-ltorch_cuda", "-lcudart"]
        folders += [str(folder) for folder in (_cuda_home(command) / "lib64", _cuda_home(command) / "lib")]
    places = [f"-L{folder}" for folder in folders if Path(folder).is_dir()]
    return [command.cxx, *objects, "-shared", *places, *libraries, *command.request.link_flags, "-o", made]


def _system_folders(command: BuildExtension) -> list[str]:
    headers = [_TORCH / "include", _TORCH / "include" / "torch" / "csrc" / "api" / "include"]
    if command.request.with_cuda:
        headers.append(_cuda_home(command) / "include")
    return [*(str(folder) for folder in headers if folder.is_dir()), sysconfig.get_path("include", "posix_prefix")]


def _architecture(command: BuildExtension) -> tuple[str, ...]:
    """Machine code for the target, unless the candidate's own flags choose it."""
    if any("arch" in flag for flag in command.request.cuda_flags):
        return ()
    number = command.target.removeprefix("sm_")
    return (f"-gencode=arch=compute_{number},code=sm_{number}",)


def _cuda_home(command: BuildExtension) -> Path:
    return Path(command.nvcc).resolve().parents[1] if command.nvcc else Path("/nonexistent")
