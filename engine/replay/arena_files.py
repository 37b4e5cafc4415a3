"""Arenas and outputs of replays in files that the judge shares with the replayer."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np

from engine import protocol
from engine.machine.numerics import Array
from engine.protocol.proof.tape import TapedView
from engine.replay.checks import TapeError
from engine.replay.elements import view_of
from engine.replay.execution import Replay

_ALIGNMENT_BYTES = 16  # the size of the largest element


def arena_bytes(arena: protocol.ArenaSpec) -> list[Array]:
    """The bytes of every storage of an arena file, shared with it."""
    handle = os.open(arena.path, os.O_RDWR | os.O_CLOEXEC)
    try:
        mapped = mmap.mmap(handle, max(arena.bytes, 1))
    finally:
        os.close(handle)
    whole = np.frombuffer(mapped, np.uint8)
    return [whole[storage.offset : storage.offset + storage.bytes] for storage in arena.storages]


def write_out(command: protocol.ReplayTape, state: Replay) -> tuple[protocol.ReturnedSpec, ...]:
    """Write outputs to the file as contiguous bytes, each at a multiple of its element's size.

    Raises:
        TapeError: they have more bytes than the command allows.
    """
    specs: list[protocol.ReturnedSpec] = []
    offset = 0
    with Path(command.outputs).open("wb") as file:
        for view in command.tape.returned:
            if view is None:
                specs.append(no_tensor())
                continue
            elements = view_of(state.content[view.storage], view)
            size = elements.size * elements.itemsize
            if offset + size > command.max_output_bytes:
                raise TapeError(f"it returns more than {command.max_output_bytes:,} bytes")
            file.write(np.ascontiguousarray(elements).tobytes())
            padding = -size % _ALIGNMENT_BYTES
            file.write(bytes(padding))
            specs.append(returned_spec(view, offset, size))
            offset += size + padding
    return tuple(specs)


def no_tensor() -> protocol.ReturnedSpec:
    """Report in place of a value that a tape does not have."""
    return protocol.ReturnedSpec(type_name="no tensor of the tape")


def returned_spec(view: TapedView, offset: int, size: int) -> protocol.ReturnedSpec:
    """A tensor of `size` bytes at `offset` of the outputs."""
    return protocol.ReturnedSpec(type_name="Tensor", dtype=view.dtype, shape=view.shape, offset=offset, bytes=size)
