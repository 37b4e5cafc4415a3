"""Stages behind TTIR, recorded when a module is compiled and reused by another compile of the same module.

A compiler without a candidate makes the binary of a module once.  The candidate's own compile of that kernel then runs
Triton's frontend alone and takes the rest from here, so that Triton's cache has it under the key of a launch.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.compiler.kept_texts import KeptTexts
from engine.compiler.options import triton_options
from engine.loading.frontend.lowering import LoweredText
from engine.protocol.proof.binaries import MOST_STAGES_BYTES, KernelBinary, Prebuilt, digest_of, without_folders

# Triton's backends, options, modules and compiled kernels are not typed: they are Any throughout this file.

_FRONTEND, _BINARY = "ttir", "cubin"
_MOST_UNPACKED_BYTES = 32 << 20
Stages: TypeAlias = "dict[str, Callable[[Any, dict[str, Any]], Any]]"


class _Packed(msgspec.Struct, frozen=True):
    """The texts of the stages between TTIR and binary, by name, and the metadata that the stages have set."""

    texts: dict[str, str]
    metadata: dict[str, Any]


_DECODER = msgspec.json.Decoder(_Packed)  # made here: a process with a candidate does not find our modules by name


@dataclass(kw_only=True)
class RecordedMetadata:
    """Metadata of a compile: before the first stage behind TTIR, and now."""

    before: dict[str, Any] = field(default_factory=dict)
    now: dict[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """The metadata set by the stages."""
        return {
            name: value for name, value in self.now.items() if name not in self.before or self.before[name] != value
        }


@contextlib.contextmanager
def recording(target: GPUTarget) -> Iterator[RecordedMetadata]:
    """Record the metadata that the stages behind TTIR of the compile in this context set."""
    recorded = RecordedMetadata()

    def record(stages: Stages, options: Any) -> None:
        for name in _behind_ttir(stages):
            stages[name] = _recorded(stages[name], recorded)

    with _changing_stages(target, record):
        yield recorded


@contextlib.contextmanager
def taking(prebuilt: Prebuilt | None, target: GPUTarget, kept_texts: KeptTexts) -> Iterator[None]:
    """Context in which a compile takes its stages from `prebuilt`, if its TTIR and its options are the same.

    Its TTIR is taken from the kept texts where it is among them.
    """
    if prebuilt is None or triton.knobs.runtime.add_stages_inspection_hook is not None:
        yield
        return
    packed = _unpacked(prebuilt.binary)
    same = make_backend(target).parse_options(triton_options(prebuilt.options))
    is_taken = False

    def take(stages: Stages, chosen: Any) -> None:
        nonlocal is_taken
        is_taken = False
        if chosen == same and packed is not None and _behind_ttir(stages) == [*packed.texts, _BINARY]:
            is_taken = True
            _take(stages, packed, prebuilt)

    make_ir = ASTSource.make_ir

    def make_or_take_ir(source: Any, gpu: Any, options: Any, *rest: Any) -> Any:
        kept = kept_texts.find(source, gpu, options, digest=prebuilt.ttir_digest) if is_taken else None
        return make_ir(source, gpu, options, *rest) if kept is None else kept

    ASTSource.make_ir = make_or_take_ir
    try:
        with _changing_stages(target, take):
            yield
    finally:
        ASTSource.make_ir = make_ir


def packed_stages(compiled: Any, recorded: RecordedMetadata) -> bytes:
    """The data that `taking` needs of a compiled kernel beside its binary; empty if too long for a reply."""
    names = [name for name in compiled.asm if name not in (_FRONTEND, _BINARY, "sass", "source")]
    texts = {name: text for name in names if isinstance(text := compiled.asm[name], str)}
    content = zlib.compress(msgspec.json.encode(_Packed(texts=texts, metadata=recorded.changes)), 1)
    return content if len(content) <= MOST_STAGES_BYTES else b""


def _unpacked(binary: KernelBinary) -> _Packed | None:
    """The stages of a binary; None if there are none."""
    if not binary.stages:
        return None
    content = zlib.decompressobj().decompress(binary.stages, _MOST_UNPACKED_BYTES)
    try:
        return _DECODER.decode(content)
    except msgspec.DecodeError:
        return None


def _take(stages: Stages, packed: _Packed, prebuilt: Prebuilt) -> None:
    """Replace the stages behind TTIR by the prebuilt ones; for another module each stage runs as usual."""
    contents: dict[str, str | bytes] = {**packed.texts, _BINARY: prebuilt.binary.code}
    first, is_same = next(iter(contents)), False

    def replaced(name: str, make: Callable[[Any, dict[str, Any]], Any]) -> Callable[[Any, dict[str, Any]], Any]:
        def stage(module: Any, metadata: dict[str, Any]) -> Any:
            nonlocal is_same
            if name == first:
                is_same = digest_of(without_folders(str(module))) == prebuilt.ttir_digest
            if not is_same:
                return make(module, metadata)
            metadata.update(packed.metadata)
            return contents[name]

        return stage

    for name in contents:
        stages[name] = replaced(name, stages[name])
    pass_frontend = stages[_FRONTEND]
    stages[_FRONTEND] = lambda module, metadata: (
        module.ttir if isinstance(module, LoweredText) else pass_frontend(module, metadata)
    )


def _recorded(
    make: Callable[[Any, dict[str, Any]], Any], recorded: RecordedMetadata
) -> Callable[[Any, dict[str, Any]], Any]:
    def stage(module: Any, metadata: dict[str, Any]) -> Any:
        if not recorded.now:
            recorded.before, recorded.now = dict(metadata), metadata
        return make(module, metadata)

    return stage


def _behind_ttir(stages: Stages) -> list[str]:
    names = list(stages)
    return names[names.index(_FRONTEND) + 1 :] if _FRONTEND in names else []


@contextlib.contextmanager
def _changing_stages(target: GPUTarget, change: Callable[[Stages, Any], None]) -> Iterator[None]:
    """Context in which `change` modifies the stages of compiles for this target, and gets their options."""
    backend = type(make_backend(target))
    original = backend.add_stages

    def add_stages(self: Any, stages: Stages, options: Any, *rest: Any) -> None:
        original(self, stages, options, *rest)
        change(stages, options)

    backend.add_stages = add_stages
    try:
        yield
    finally:
        backend.add_stages = original
