"""Replays in host memory: kernels as modules of the machine, and arenas in files that are shared with the judge."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np

from engine import protocol
from engine.errors import UnsupportedError
from engine.machine.numerics import Array
from engine.machine.reader import read_module
from engine.protocol.proof.tape import Tape, TapedView
from engine.replay.checks import TapeError
from engine.replay.elements import view_of
from engine.replay.execution import Replay
from engine.replay.host_memory import HostMemory, Kernel

_ALIGNMENT = 16


class Host:
    """Holds kernels by name, and opens the memory of tapes."""

    def __init__(self) -> None:
        self._kernels: dict[str, Kernel] = {}
        self._random = np.random.default_rng()

    def hold(self, command: protocol.HoldKernel) -> None:
        """Parse a module and keep it.

        Raises:
            UnsupportedError: an operation, type or form that the machine does not have.
            MachineError: it is malformed, or exceeds a limit.
        """
        self._kernels[command.name] = Kernel(
            module=read_module(command.ttir),
            arguments=command.arguments,
            makes_pointers="tt.int_to_ptr" in command.ttir,
        )

    def hold_binary(self, command: protocol.HoldBinary) -> None:
        """Refuse: modules are executed directly.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(f"a replayer in host memory launches no binary of {command.binary.name}")

    def drop(self) -> None:
        """Drop all kernels."""
        self._kernels.clear()

    def open(self, command: protocol.ReplayTape, tape: Tape) -> HostCase:
        """The memory of a checked tape, whose arguments are in the arena of the command."""
        kernels = {number: self._kernels[name] for number, name in enumerate(command.kernels)}
        arguments = arena_bytes(command.arena)
        memory = HostMemory(tape, arguments, kernels, poison=self._poison)
        return HostCase(command=command, memory=memory, arguments=arguments)

    def time(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """Refuse: a time in host memory is not the speed of a kernel.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(f"a replayer in host memory does not carry out {type(command).__name__}")

    def is_lost(self) -> bool:
        """False: host memory stays usable after any kernel."""
        return False

    def _poison(self, size_bytes: int) -> Array:
        return self._random.integers(0, 256, size_bytes, dtype=np.uint8)


class HostCase:
    """The memory of one replay, and the file of its outputs."""

    def __init__(self, *, command: protocol.ReplayTape, memory: HostMemory, arguments: list[Array]) -> None:
        self.memory = memory
        self.arguments = arguments
        self._command = command

    def leave(self, state: Replay) -> tuple[protocol.ReturnedSpec, ...]:
        """Write the outputs to the file of the command; arguments are in the arena already."""
        return write_out(self._command, state)


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
            padding = -size % _ALIGNMENT
            file.write(bytes(padding))
            specs.append(returned_spec(view, offset, size))
            offset += size + padding
    return tuple(specs)


def no_tensor() -> protocol.ReturnedSpec:
    """Report in place of a value that a tape does not have."""
    return protocol.ReturnedSpec(type_name="no tensor of the tape")


def returned_spec(view: TapedView, offset: int, size: int) -> protocol.ReturnedSpec:
    """A tensor of `size` bytes at `offset` of the outputs."""
    return protocol.ReturnedSpec(
        type_name="Tensor", dtype=view.dtype, shape=view.shape, offset=offset, bytes=size
    )  # fmt: skip
