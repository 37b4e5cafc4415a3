"""Commands and replies of compiling TTIR to binaries, in processes that have no candidate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

from engine.errors import UnsupportedError
from engine.model import Launch
from engine.protocol.messages import Command, Count, Message, Reply, Text, Word

MOST_BINARY_BYTES, MOST_STAGES_BYTES = 2560 << 10, 384 << 10  # in base64 both fit a line of a reply
MAP_BYTES = 128  # sizeof(CUtensorMap)
_MOST_PARAMETERS, _MOST_MAP_DIMENSIONS = 1024, 16
_FILE = re.compile(r'\bloc\("((?:[^"\\\n]|\\.)*+)":(?=\d+:\d+\))')
_HOST_TYPES = {8: 10, 9: 8, 10: 9}  # element types of TMA that the driver numbers differently


class CompileOptions(Message, frozen=True):
    """The options of a launch that its binary depends on; `others` are sorted by name."""

    num_warps: Count
    num_stages: Count
    others: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, launch: Launch) -> CompileOptions:
        """The options of a launch."""
        others = tuple(sorted(launch.options.items()))
        return cls(num_warps=launch.num_warps, num_stages=launch.num_stages, others=others)


class BinaryRequest(Message, frozen=True):
    """All that a binary depends on: a module, the options of its launch, and the target; `kernel` is for messages."""

    kernel: str
    ttir: str
    options: CompileOptions
    target: str

    @property
    def key(self) -> str:
        """SHA-256 that identifies a binary within one engine, whose versions do not change."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class BuildBinary(Command, tag="build_binary", frozen=True):
    """Compiler without a candidate: compile this one module, and no other.

    It can read libraries and `readable` only, and may allocate `memory_bytes` more than it has.
    """

    request: BinaryRequest
    memory_bytes: Count
    readable: tuple[str, ...]


class MapLayout(Message, frozen=True):
    """Layout of one tensor map of a binary, from the compiler's metadata `tensordesc_meta`."""

    swizzle: Count
    element_type: Count
    element_bytes: Count
    block: Annotated[tuple[Count, ...], msgspec.Meta(max_length=_MOST_MAP_DIMENSIONS)]

    @classmethod
    def of(cls, metadata: Mapping[str, object]) -> MapLayout:
        """The layout in a row of the metadata.

        Raises:
            UnsupportedError: it is of packed elements or of image windows, or invalid.
        """
        if metadata.get("fp4_padded") or metadata.get("is_im2col"):
            raise UnsupportedError("a tensor descriptor of packed 4-bit elements, or of windows of an image")
        numbers = [metadata.get(name) for name in ("swizzle", "elem_type", "elem_size")]
        block = metadata.get("block_size")
        if not isinstance(block, list | tuple) or not all(isinstance(one, int) for one in (*numbers, *block)):
            raise UnsupportedError(f"a tensor descriptor of an unknown layout: {str(metadata)[:200]}")
        swizzle, kind, size = (int(str(number)) for number in numbers)
        return cls(swizzle=swizzle, element_type=_HOST_TYPES.get(kind, kind), element_bytes=size, block=tuple(block))


class KernelBinary(Message, frozen=True):
    """A compiled kernel and the data that its launch needs.

    `parameters` are the sizes in bytes of the binary's parameters, in order: the arguments of the kernel and, as the
    last two, the addresses of its global scratch memory and of that for profiling.  `scratch_bytes` are for each block.
    `maps` are the layouts of its tensor maps, in the order of their parameters.  `stages` is what
    `engine.compiler.stages` packs of the compile: texts between TTIR and binary, and metadata; empty if too long.
    """

    name: Text
    code: Annotated[bytes, msgspec.Meta(max_length=MOST_BINARY_BYTES)]
    threads: Count
    shared_bytes: Count
    scratch_bytes: Count
    parameters: Annotated[tuple[Count, ...], msgspec.Meta(max_length=_MOST_PARAMETERS)]
    maps: Annotated[tuple[MapLayout, ...], msgspec.Meta(max_length=_MOST_PARAMETERS)] = ()
    stages: Annotated[bytes, msgspec.Meta(max_length=MOST_STAGES_BYTES)] = b""

    @property
    def for_launches(self) -> KernelBinary:
        """The binary without what launches do not need."""
        return msgspec.structs.replace(self, stages=b"")


class Prebuilt(Message, frozen=True):
    """The binary that a compiler without a candidate made of the module with this digest and these options."""

    ttir_digest: Word
    options: CompileOptions
    binary: KernelBinary

    @classmethod
    def of(cls, request: BinaryRequest, binary: KernelBinary) -> Prebuilt:
        """The binary of a request."""
        return cls(ttir_digest=digest_of(request.ttir), options=request.options, binary=binary)


def without_folders(ttir: str) -> str:
    """The text with file names without folders, so that it does not depend on the candidate's location."""
    return _FILE.sub(lambda found: f'loc("{found[1].rpartition("/")[2]}":', ttir)


def digest_of(ttir: str) -> str:
    """SHA-256 of a module's text."""
    return hashlib.sha256(ttir.encode()).hexdigest()


class BinaryBuilt(Reply, tag="binary_built", frozen=True):
    """The binary of a module."""

    binary: KernelBinary


class HoldBinary(Command, tag="hold_binary", frozen=True):
    """Replayer on a device: launch the held module `kernel` with these options as this binary."""

    kernel: str
    options: CompileOptions
    binary: KernelBinary
