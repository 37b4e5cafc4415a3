"""A tape as a function of the entry's arguments, for repeated calls that are timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from engine import protocol
from engine.errors import UnsupportedError
from engine.protocol.messages import PointersSpec
from engine.protocol.proof.tape import Addressed, Filled, Given, Launched, LookedUp, Moved, Tape
from engine.protocol.tensors import tensors_given
from engine.replay.checks import check_tape, views_of
from engine.replay.device.kernels import DeviceKernels
from engine.replay.device.memory import DeviceMemory


class TimedTape:
    """Executes a tape on the storages of the arguments of each call, and returns what the tape returns.

    Memory of unknown origin whose content the tape has is made once, as it was for the candidate.
    """

    def __init__(self, command: protocol.TimeTape, kernels: DeviceKernels, noise: torch.Generator) -> None:
        """Check that the tape can be timed.

        Raises:
            TapeError: it contradicts itself, or exceeds a limit.
            UnsupportedError: the time of a step would differ from the candidate's.
        """
        check_tape(command.tape, command.sizes, most_bytes=command.most_bytes)
        for reason in _untimed(command):
            raise UnsupportedError(reason)
        self._tape, self._specs, self._sizes = command.tape, command.arguments, command.sizes
        self._launch = kernels.launcher(command.tape, command.kernels)
        self._noise = noise
        self._given = _given(command.tape, noise.device)

    def __call__(self, *values: object) -> object:
        memory = DeviceMemory(
            self._tape, self._storages(values), launch=self._launch, noise=self._noise, given=self._given
        )
        for step in self._tape.steps:
            match step:
                case Filled():
                    memory.fill(step.target, step.element)
                case Moved():
                    memory.move(step.target, step.source)
                case Launched():
                    memory.launch(step)
        returned = tuple(memory.view(view) for view in self._tape.returned if view is not None)
        return returned or None

    def _storages(self, values: tuple[object, ...]) -> list[torch.Tensor]:
        """The bytes of each storage of the arguments; storages without a view are empty."""
        device = self._noise.device
        found = [torch.empty(0, dtype=torch.uint8, device=device) for _ in self._sizes]
        for spec, value in zip(self._specs, values, strict=True):
            parts = zip(protocol.tensor_specs(spec), tensors_given(value), strict=True)
            for part, tensor in parts:
                found[part.storage] = found[part.storage].set_(tensor.untyped_storage())
        return found


def _untimed(command: protocol.TimeTape) -> Iterator[str]:
    """Reasons why a tape is not timed."""
    if len(command.kernels) < len(command.tape.specialisations):
        yield "a kernel of the tape is missing"
    if not command.tape.launches:
        yield "no launch was recorded"
    for spec in command.arguments:
        if isinstance(spec, PointersSpec) or any(part.on_cpu for part in protocol.tensor_specs(spec)):
            yield "an argument is an array of pointers, or in host memory"
    if None in command.tape.returned and set(command.tape.returned) != {None}:
        yield "it returns something other than tensors"
    used: set[int] = set()
    for step in command.tape.steps:
        match step:
            case Given(data=None):
                yield step.work if step.operator else "torch computes: memory that depends on the arguments"
            case Given() if command.tape.storages[step.storage].argument is not None:
                yield "an argument is overwritten by other code"
            case Given() if step.storage in used:
                yield "memory is overwritten by other code"
            case LookedUp():
                yield "torch looks up elements"
            case Addressed():
                yield "a kernel is given an array of pointers"
        used.update((step.storage,) if isinstance(step, Given) else (view.storage for view in views_of(step)))


def _given(tape: Tape, device: torch.device) -> Mapping[int, torch.Tensor]:
    """The storages whose content the tape has, on the device."""
    steps = (step for step in tape.steps if isinstance(step, Given) and step.data)
    return {step.storage: torch.frombuffer(bytearray(step.data or b""), dtype=torch.uint8).to(device) for step in steps}
