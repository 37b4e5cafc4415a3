"""The replayer's main loop: hold kernels, and execute tapes of their launches in this process's memory."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec
import numpy as np

from engine import protocol
from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.numerics import Array
from engine.protocol.proof.tape import FRACTIONAL, Given, Tape, TapedView
from engine.protocol.transport.service import MessagePipes
from engine.replay.checks import TapeError, bytes_of, check_tape
from engine.replay.execution import KernelStoppedError, Replay, TapeMemory, replay
from engine.replay.host_backend import HostBackend
from engine.replay.rearranged import argument_views, rearranged_of
from engine.sandbox.confinement import Measure
from engine.sandbox.readable_files import limit_reading
from engine.sandbox.variables import DEVICE_VARIABLE, MACHINE_VARIABLE

_MESSAGE_CHARACTERS = 1000


class ReplayArena(Protocol):
    """The arena of one replay, and the memory of its tape."""

    @property
    def memory(self) -> TapeMemory:
        """The storages of the tape."""
        ...

    @property
    def arguments(self) -> Sequence[Array]:
        """The bytes of each storage of the arena."""
        ...

    @property
    def may_wait(self) -> bool:
        """Whether programs may wait for each other, and others would run backwards."""
        ...

    def leave(self, state: Replay) -> tuple[protocol.ReturnedSpec, ...]:
        """Write the outputs of the tape, returned or in place, for the judge."""
        ...


class Backend(Protocol):
    """Interface of what replays tapes: in host memory, or on a device."""

    def hold(self, command: protocol.HoldKernel) -> None:
        """Keep a kernel under its name."""
        ...

    def hold_binary(self, command: protocol.HoldBinary) -> None:
        """Use this binary for launches of a held kernel, if binaries are launched."""
        ...

    def drop(self) -> None:
        """Unload all kernels, and free memory that is kept for later."""
        ...

    def open(self, command: protocol.ReplayTape, tape: Tape) -> ReplayArena:
        """The arena and the memory of a checked tape."""
        ...

    def check_memory(self, command: protocol.CheckMemory, tape: Tape) -> protocol.MemoryChecked:
        """Execute a checked tape, and check the accesses of its launches, if they run in host memory."""
        ...

    def time(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """Carry out a command of timing."""
        ...

    def is_lost(self) -> bool:
        """Whether nothing more can be replayed in this process."""
        ...


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Report that the process is ready, and carry out commands."""
    pipes = MessagePipes(commands, replies)
    replayer = Replayer(limits_reading=Measure.READING in in_force, backend=_backend())
    versions = {"numpy": np.__version__, "python": platform.python_version()}
    pipes.reply(protocol.Ready(id="ready", confinement=in_force, versions=versions))
    pipes.serve(replayer.carry_out)


def _backend() -> Backend:
    """Host memory if kernels run on the machine, else the device of this process."""
    if os.environ.get(MACHINE_VARIABLE) == "1":
        return HostBackend()
    from engine.replay.device.backend import DeviceBackend  # imports torch, which a replay in host memory does not need

    return DeviceBackend(os.environ[DEVICE_VARIABLE])


class Replayer:
    """Carries out the commands of one process."""

    def __init__(self, *, limits_reading: bool, backend: Backend | None = None) -> None:
        """Without a `backend` it replays in host memory."""
        self._limits_reading = limits_reading
        self._backend = backend or HostBackend()

    def carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """The reply to a command; errors of a tape or a module are a Failed with the reason."""
        kind = protocol.FailureKind.ENGINE
        try:
            match command:
                case protocol.LimitReading():
                    if self._limits_reading:
                        limit_reading(command.readable)
                    return protocol.Done(id=command.id)
                case protocol.HoldKernel():
                    self._backend.hold(command)
                    return protocol.Done(id=command.id)
                case protocol.HoldBinary():
                    self._backend.hold_binary(command)
                    return protocol.Done(id=command.id)
                case protocol.DropKernels():
                    self._backend.drop()
                    return protocol.Done(id=command.id)
                case protocol.ReplayTape():
                    return self._replay(command)
                case protocol.CheckMemory():
                    return self._backend.check_memory(command, _checked_tape(command))
            return self._backend.time(command)
        except UnsupportedError as error:
            kind, message = protocol.FailureKind.UNSUPPORTED, str(error)
        except (MachineError, KernelStoppedError) as error:
            kind, message = protocol.FailureKind.RAISED, str(error)
        except TapeError as error:
            kind, message = protocol.FailureKind.TAMPERED, str(error)
        except MemoryError:
            kind, message = protocol.FailureKind.OUT_OF_MEMORY, "the replay needs more memory than a worker may use"
        except Exception as error:  # process boundary: an error of the machine or of the replay
            message = f"{type(error).__name__}: {error}"
        broken = self._backend.is_lost()
        if broken and kind is protocol.FailureKind.ENGINE:  # an asynchronous error of a launch surfaces in a later step
            kind, message = protocol.FailureKind.RAISED, f"the device stopped a launch: {message}"
        return protocol.Failed(id=command.id, kind=kind, message=message[:_MESSAGE_CHARACTERS], broken=broken)

    def _replay(self, command: protocol.ReplayTape) -> protocol.TapeReplayed:
        tape = _checked_tape(command)
        arena = self._backend.open(command, tape)
        rearranged = rearranged_of(tape, command, arena.arguments)
        state = replay(tape, arena.memory, rearranged=rearranged, fractional=fractional_storages(tape, command))
        returned = arena.leave(state)
        storages = _written(tape, state)
        rearranged_by, made_by_moves = _rearranged(tape, state)
        return protocol.TapeReplayed(
            id=command.id,
            returned=returned,
            moved_bytes=state.moved_bytes,
            foreign=tuple(sorted(set().union(*(state.foreign.get(one, frozenset()) for one in storages)))),
            by_kernels=are_stored_by_kernels(tape, state) and not _is_looked_up(tape, command, state),
            rearranged_by=rearranged_by,
            made_by_moves=made_by_moves,
            looks_up_foreign=state.looks_up_foreign,
            looks_up_table=state.looks_up_table,
            looks_up_by_fractions=state.looks_up_by_fractions,
            truncated_by=state.truncated_by,
            may_wait=arena.may_wait,
        )


def _checked_tape(command: protocol.ReplayTape | protocol.CheckMemory) -> Tape:
    """The tape of a command, without the data that is not used.

    Raises:
        TapeError: it cannot be executed on the arena of the command.
    """
    sizes = [storage.bytes for storage in command.arena.storages]
    check_tape(command.tape, sizes, most_bytes=command.most_bytes)
    kernels = len(command.kernels)
    if kernels < len(command.tape.specialisations):
        raise TapeError(f"{kernels} kernels for {len(command.tape.specialisations)} specialisations")
    return _without(command.tape, command.without)


def _without(tape: Tape, numbers: tuple[int, ...]) -> Tape:
    """The tape without the data of these Given steps."""
    steps = list(tape.steps)
    for number in numbers:
        step = steps[number]
        if isinstance(step, Given):
            steps[number] = msgspec.structs.replace(step, data=None)
    return Tape(
        storages=tape.storages, specialisations=tape.specialisations, steps=tuple(steps), returned=tape.returned,
        addresses=tape.addresses,
    )  # fmt: skip


def fractional_storages(tape: Tape, command: protocol.ReplayTape) -> set[int]:
    """The storages of arguments that hold fractions only."""
    views = argument_views(tape, command.arguments)
    return {view.storage for view in views} - {view.storage for view in views if view.dtype not in FRACTIONAL}


def are_stored_by_kernels(tape: Tape, state: Replay) -> bool:
    """Whether kernels stored to all outputs, but for arguments that are returned as they came, beside such outputs."""
    written = _written(tape, state)
    same = {one for one in written - state.changed if tape.storages[one].argument is not None}
    return written - same <= state.launched and not (same and same == written)


def _written(tape: Tape, state: Replay) -> set[int]:
    """The storages of returned values with elements, and those of arguments that changed."""
    returned = {view.storage for view in tape.returned if view is not None and bytes_of(view)}
    arguments = {number for number, storage in enumerate(tape.storages) if storage.argument is not None}
    return returned | (arguments & state.changed)


def _is_looked_up(tape: Tape, command: protocol.ReplayTape, state: Replay) -> bool:
    """Whether torch has looked up most elements of an output, returned or in place, and no kernel stored to them."""
    if state.origins is None:
        return False
    changed = [view for view in argument_views(tape, command.arguments) if view.storage in state.changed]
    outputs = (*(view for view in tape.returned if view is not None), *changed)
    return any(map(state.origins.is_looked_up, outputs))


def _rearranged(tape: Tape, state: Replay) -> tuple[int | None, bool]:
    """The move that may have computed an answer that is a rearrangement, and whether moves certainly made it."""
    if state.rearranged is None:
        return None, False
    written = state.rearranged.written(state.changed)
    outputs = (*(view for view in tape.returned if view is not None), *written)
    step = state.rearranged.step_behind(outputs, state.content)
    by_kernels = {number for number in state.launched if state.origins is None or not state.origins.is_moved(number)}
    stored = by_kernels | state.foreign.keys()
    made = is_filled(outputs, state) or state.rearranged.made(outputs, state.content, stored)
    return step, step is not None and made


def is_filled(outputs: Iterable[TapedView], state: Replay) -> bool:
    """Whether all outputs are constants that fills of torch gave, and of which kernels have stored less than half."""
    storages = {view.storage for view in outputs if bytes_of(view)}
    if not storages or state.origins is None or not storages.isdisjoint(state.derived):
        return False
    return all(map(state.origins.is_moved, storages))
