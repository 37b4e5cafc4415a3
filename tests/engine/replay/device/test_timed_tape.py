"""A tape called on the arguments of an entry gives what the entry returned, or is refused before it is timed."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from engine import protocol
from engine.errors import UnsupportedError
from engine.protocol import tensors
from engine.protocol.proof.tape import Addressed, Filled, Given, LookedUp, Moved, Step, TapedPlace
from engine.replay.checks import TapeError
from engine.replay.device.timed_tape import TimedTape
from engine.replay.execution import LaunchEffects
from tests.engine.replay.tapes import BYTES, ELEMENTS, launched, tape, vector

NOISE = torch.Generator().manual_seed(1)


class Doubling:
    """Kernels of a device whose launches do nothing but double what the first storage holds into the second."""

    def __init__(self) -> None:
        self.launches = 0

    def launcher(self, *_: object) -> Any:
        def launch(step: object, address_of: object) -> LaunchEffects:
            self.launches += 1
            return LaunchEffects(used=frozenset(), stored=frozenset())

        return launch


def command(*steps: Step, argument: object = None, **changes: Any) -> protocol.TimeTape:
    specs, _ = tensors.lay_out((torch.zeros(ELEMENTS),) if argument is None else (argument,))
    recorded = msgspec.structs.replace(tape(*steps), **changes)
    return protocol.TimeTape(id="i", tape=recorded, kernels=("k",), arguments=specs, sizes=(BYTES,), most_bytes=1 << 20)


LAUNCH = launched(vector(0), vector(1))


def test_steps_are_executed_on_the_arguments() -> None:
    kernels = Doubling()
    timed = TimedTape(command(Moved(target=vector(1), source=vector(0)), LAUNCH), kernels, NOISE)  # type: ignore[arg-type]
    argument = torch.arange(float(ELEMENTS))
    (returned,) = timed(argument)  # type: ignore[misc]
    assert returned.tolist() == argument.tolist()
    assert kernels.launches == 1


def test_calls_return_memory_of_their_own() -> None:
    fill = Filled(target=vector(1), element=np.float32(7).tobytes())
    timed = TimedTape(command(fill, LAUNCH), Doubling(), NOISE)  # type: ignore[arg-type]
    (first,), (second,) = timed(torch.zeros(ELEMENTS)), timed(torch.zeros(ELEMENTS))  # type: ignore[misc]
    assert first.tolist() == second.tolist() == [7.0] * ELEMENTS
    assert first.data_ptr() != second.data_ptr()


def test_known_constants_are_made_once() -> None:
    data = np.arange(ELEMENTS, dtype=np.float32).tobytes()
    timed = TimedTape(command(Given(storage=1, data=data), LAUNCH), Doubling(), NOISE)  # type: ignore[arg-type]
    (first,), (second,) = timed(torch.zeros(ELEMENTS)), timed(torch.zeros(ELEMENTS))  # type: ignore[misc]
    assert first.tolist() == list(range(ELEMENTS))
    assert first.data_ptr() == second.data_ptr()


def test_a_tape_that_returns_nothing_gives_none() -> None:
    timed = TimedTape(command(LAUNCH, returned=(None,)), Doubling(), NOISE)  # type: ignore[arg-type]
    assert timed(torch.zeros(ELEMENTS)) is None


POSITIONS = vector(0, elements=3, dtype="int64")


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        (command(), "no launch was recorded"),
        (command(Given(storage=1, operator="aten::mm"), LAUNCH), "torch computes: aten::mm"),
        (command(Given(storage=0, data=bytes(BYTES)), LAUNCH), "an argument is overwritten by other code"),
        (command(Given(storage=1, data=bytes(BYTES)), LAUNCH, Given(storage=1, data=b"1" * BYTES)),
         "memory is overwritten by other code"),
        (command(LAUNCH, Given(storage=1, data=bytes(BYTES))), "memory is overwritten by other code"),
        (command(LookedUp(target=vector(1, elements=3), source=vector(0), positions=POSITIONS, dimension=0), LAUNCH),
         "torch looks up elements"),
        (command(Addressed(storage=1, words=(TapedPlace(storage=0, offset_bytes=0),) * 3), LAUNCH),
         "a kernel is given an array of pointers"),
        (command(LAUNCH, returned=(vector(1), None)), "it returns something other than tensors"),
        (msgspec.structs.replace(command(LAUNCH), kernels=()), "a kernel of the tape is missing"),
    ],
)  # fmt: skip
def test_tapes_that_would_be_timed_otherwise_are_refused(recorded: protocol.TimeTape, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        TimedTape(recorded, Doubling(), NOISE)  # type: ignore[arg-type]


def test_a_tape_with_other_sizes_is_refused() -> None:
    with pytest.raises(TapeError, match="storage 0 has 24 bytes, not 8"):
        TimedTape(msgspec.structs.replace(command(LAUNCH), sizes=(8,)), Doubling(), NOISE)  # type: ignore[arg-type]
