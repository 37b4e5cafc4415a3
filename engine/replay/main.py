"""The replayer's main loop: hold kernels as modules of the machine, and execute tapes of launches of them."""

from __future__ import annotations

import mmap
import os
import platform
from pathlib import Path

import numpy as np

from engine import protocol
from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.numerics import Array
from engine.machine.reader import read_module
from engine.protocol.proof.tape import Given, Tape, TapedView
from engine.protocol.service import Line
from engine.replay.checks import TapeError, bytes_of, check_tape
from engine.replay.elements import view_of
from engine.replay.execution import Kernel, KernelStoppedError, Replay, replay
from engine.replay.rearranged import rearranged_of
from engine.sandbox.confinement import Measure
from engine.sandbox.readable_files import limit_reading

_ALIGNMENT = 16
_MESSAGE_CHARACTERS = 1000


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Say that the process is there, and carry out commands."""
    line = Line(commands, replies)
    versions = {"numpy": np.__version__, "python": platform.python_version()}
    line.reply(protocol.Ready(id="ready", confinement=in_force, versions=versions))
    line.serve(Replayer(limits_reading=Measure.READING in in_force).carry_out)


class Replayer:
    """Kernels that are held, by name, and what executes tapes of them."""

    def __init__(self, *, limits_reading: bool) -> None:
        self._limits_reading = limits_reading
        self._kernels: dict[str, Kernel] = {}
        self._random = np.random.default_rng()

    def carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """The reply to a command; whatever a tape or a module does wrong is a Failed with its reason."""
        kind = protocol.FailureKind.ENGINE
        try:
            match command:
                case protocol.LimitReading():
                    if self._limits_reading:
                        limit_reading(command.readable)
                    return protocol.Done(id=command.id)
                case protocol.HoldKernel():
                    self._kernels[command.name] = Kernel(
                        module=read_module(command.ttir),
                        arguments=command.arguments,
                        makes_pointers="tt.int_to_ptr" in command.ttir,
                    )
                    return protocol.Done(id=command.id)
                case protocol.ReplayTape():
                    return self._replay(command)
            message = f"a replayer does not {type(command).__name__.lower()}"
        except UnsupportedError as error:
            kind, message = protocol.FailureKind.UNSUPPORTED, str(error)
        except (MachineError, KernelStoppedError) as error:
            kind, message = protocol.FailureKind.RAISED, str(error)
        except TapeError as error:
            kind, message = protocol.FailureKind.TAMPERED, str(error)
        except MemoryError:
            kind, message = protocol.FailureKind.OUT_OF_MEMORY, "the replay needs more memory than a worker may use"
        except Exception as error:  # the edge of the process: a fault of the machine or of the replay
            message = f"{type(error).__name__}: {error}"
        return protocol.Failed(id=command.id, kind=kind, message=message[:_MESSAGE_CHARACTERS])

    def _replay(self, command: protocol.ReplayTape) -> protocol.TapeReplayed:
        sizes = [storage.bytes for storage in command.arena.storages]
        check_tape(command.tape, sizes, most_bytes=command.most_bytes)
        kernels = {number: self._kernels[name] for number, name in enumerate(command.kernels)}
        if len(kernels) < len(command.tape.specialisations):
            raise TapeError(f"{len(kernels)} kernels for {len(command.tape.specialisations)} specialisations")
        tape = _without(command.tape, command.without)
        arguments = _arguments(command.arena)
        rearranged = rearranged_of(tape, command, arguments)
        state = replay(tape, arguments, kernels, poison=self._poison, rearranged=rearranged)
        outputs = [view_of(state.content[view.storage], view) if view is not None else None for view in tape.returned]
        returned = _write_out(command, outputs)
        storages = _written(tape, state)
        rearranged_by, made_by_moves = _rearranged(tape, state)
        return protocol.TapeReplayed(
            id=command.id,
            returned=returned,
            moved_bytes=state.moved_bytes,
            foreign=tuple(sorted(set().union(*(state.foreign.get(one, frozenset()) for one in storages)))),
            by_kernels=storages <= state.launched,
            rearranged_by=rearranged_by,
            made_by_moves=made_by_moves,
            looks_up_foreign=state.looks_up_foreign,
        )

    def _poison(self, size_bytes: int) -> Array:
        return self._random.integers(0, 256, size_bytes, dtype=np.uint8)


def _without(tape: Tape, numbers: tuple[int, ...]) -> Tape:
    """The tape with the data of these Given steps left out."""
    steps = list(tape.steps)
    for number in numbers:
        step = steps[number]
        if isinstance(step, Given):
            steps[number] = Given(storage=step.storage, reads=step.reads, operator=step.operator, line=step.line)
    return Tape(
        storages=tape.storages, specialisations=tape.specialisations, steps=tuple(steps), returned=tape.returned
    )


def _written(tape: Tape, state: Replay) -> set[int]:
    """The storages of what was returned and has elements, and those of arguments that changed."""
    returned = {view.storage for view in tape.returned if view is not None and bytes_of(view)}
    arguments = {number for number, storage in enumerate(tape.storages) if storage.argument is not None}
    return returned | (arguments & state.changed)


def _rearranged(tape: Tape, state: Replay) -> tuple[int | None, bool]:
    """The move that may have computed an answer that is a rearrangement, and whether moves certainly made it."""
    if state.rearranged is None:
        return None, False
    written = state.rearranged.written(state.changed)
    outputs = (*(view for view in tape.returned if view is not None), *written)
    step = state.rearranged.step_behind(outputs, state.content)
    stored = state.launched | state.foreign.keys()
    return step, step is not None and state.rearranged.made(outputs, state.content, stored)


def _arguments(arena: protocol.ArenaSpec) -> list[Array]:
    """The bytes of every storage of an arena file, shared with it."""
    handle = os.open(arena.path, os.O_RDWR | os.O_CLOEXEC)
    try:
        mapped = mmap.mmap(handle, max(arena.bytes, 1))
    finally:
        os.close(handle)
    whole = np.frombuffer(mapped, np.uint8)
    return [whole[storage.offset : storage.offset + storage.bytes] for storage in arena.storages]


def _write_out(command: protocol.ReplayTape, outputs: list[Array | None]) -> tuple[protocol.ReturnedSpec, ...]:
    """Write outputs to the file as contiguous bytes, each at a multiple of its element's size."""
    specs: list[protocol.ReturnedSpec] = []
    offset = 0
    with Path(command.outputs).open("wb") as file:
        for view, elements in zip(command.tape.returned, outputs, strict=True):
            if view is None or elements is None:
                specs.append(protocol.ReturnedSpec(type_name="no tensor of the tape"))
                continue
            size = elements.size * elements.itemsize
            if offset + size > command.max_output_bytes:
                raise TapeError(f"it returns more than {command.max_output_bytes:,} bytes")
            file.write(np.ascontiguousarray(elements).tobytes())
            padding = -size % _ALIGNMENT
            file.write(bytes(padding))
            specs.append(_spec(view, offset, size))
            offset += size + padding
    return tuple(specs)


def _spec(view: TapedView, offset: int, size: int) -> protocol.ReturnedSpec:
    return protocol.ReturnedSpec(
        type_name="Tensor", dtype=view.dtype, shape=view.shape, offset=offset, bytes=size
    )  # fmt: skip
