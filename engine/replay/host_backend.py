"""Replays in host memory: kernels are modules of the machine, and arenas are files that are shared with the judge."""

from __future__ import annotations

import numpy as np

from engine import protocol
from engine.errors import UnsupportedError
from engine.machine.numerics import Array
from engine.machine.plan import waits_for_programs
from engine.machine.reader import read_module
from engine.protocol.proof.tape import Tape, makes_pointers
from engine.replay.addresses import bases_of
from engine.replay.arena_files import arena_bytes, write_out
from engine.replay.execution import KernelStoppedError, Replay, replay
from engine.replay.host_memory import HostMemory, Kernel
from engine.replay.memory_checks import MemoryChecks


class HostBackend:
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
        module = read_module(command.ttir)
        self._kernels[command.name] = Kernel(
            module=module,
            arguments=command.arguments,
            makes_pointers=makes_pointers(command.ttir),
            waits=waits_for_programs(module),
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

    def open(self, command: protocol.ReplayTape, tape: Tape) -> HostReplayArena:
        """The memory of a checked tape, whose arguments are in the arena of the command."""
        memory, arguments = self._opened(command, tape)
        return HostReplayArena(command=command, memory=memory, arguments=arguments)

    def check_memory(self, command: protocol.CheckMemory, tape: Tape) -> protocol.MemoryChecked:
        """Execute a checked tape, and check the accesses of its launches.

        Raises:
            UnsupportedError: a step or an operation that is not replayed.
            MachineError: a module that cannot be executed within the limits of the machine.
            TapeError: a launch does not give the arguments of its kernel.
        """
        checks = MemoryChecks(warp_threads=command.warp_threads)
        memory, _ = self._opened(command, tape, checks)
        try:
            replay(tape, memory)
        except KernelStoppedError as error:
            return checks.reply(command, stopped=str(error))
        return checks.reply(command)

    def _opened(
        self, command: protocol.ReplayTape | protocol.CheckMemory, tape: Tape, checks: MemoryChecks | None = None
    ) -> tuple[HostMemory, list[Array]]:
        """The memory of a tape, and the bytes of each storage of the arena."""
        kernels = {number: self._kernels[name] for number, name in enumerate(command.kernels)}
        arguments = arena_bytes(command.arena)
        offsets = [storage.offset for storage in command.arena.storages]
        bases = bases_of(tape, offsets, lambda below: int(self._random.integers(below)))
        backwards = isinstance(command, protocol.ReplayTape) and command.backwards
        memory = HostMemory(
            tape, arguments, kernels, bases=bases, poison=self._poison, checks=checks, backwards=backwards
        )
        return memory, arguments

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


class HostReplayArena:
    """The arena of one replay in a file, the memory of its tape, and the file of its outputs."""

    def __init__(self, *, command: protocol.ReplayTape, memory: HostMemory, arguments: list[Array]) -> None:
        self.memory = memory
        self.arguments = arguments
        self._command = command

    @property
    def may_wait(self) -> bool:
        """See `ReplayArena`."""
        return self.memory.may_wait

    def leave(self, state: Replay) -> tuple[protocol.ReturnedSpec, ...]:
        """Write the outputs to the file of the command; arguments are in the arena already."""
        return write_out(self._command, state)
