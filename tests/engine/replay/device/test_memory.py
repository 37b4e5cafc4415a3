"""Steps of a tape on torch's tensors give the bytes that they give in host memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.errors import UnsupportedError
from engine.protocol.proof.tape import Addressed, Filled, Given, LookedUp, Moved, Step, TapedPlace, TapedView
from engine.replay.device.memory import DeviceMemory
from engine.replay.execution import LaunchEffects, Replay, replay
from tests.engine.replay.tapes import BYTES, content, launched, replay_on_host, tape, vector, zeros

TWO = np.float32(7).tobytes()


def on_torch(*steps: Step, storages: int = 2, stored: frozenset[int] = frozenset({1})) -> Replay:
    """The steps on tensors of the CPU; launches store nothing, and say that they stored to `stored`."""
    recorded = tape(*steps, storages=storages)
    used = frozenset({0, 1})
    memory = DeviceMemory(
        recorded, [torch.from_numpy(content())], launch=lambda *_: LaunchEffects(used=used, stored=stored),
        noise=torch.Generator().manual_seed(1),
    )  # fmt: skip
    return replay(recorded, memory)


def positions(*numbers: int) -> Given:
    return Given(storage=1, data=np.array(numbers, np.int64).tobytes())


def rows(storage: int, *shape: int, offset_bytes: int = 0) -> TapedView:
    strides = (shape[1], 1) if len(shape) == 2 else (1,)
    return TapedView(storage=storage, dtype="float32", offset_bytes=offset_bytes, shape=shape, strides=strides)


AT = TapedView(storage=1, dtype="int64", offset_bytes=0, shape=(3,), strides=(1,))
TABLE = rows(0, 2, 3)
WHOLE = Moved(target=vector(1), source=vector(0))
EACH = TapedView(storage=1, dtype="int64", offset_bytes=0, shape=(1, 3), strides=(3, 1))


@pytest.mark.parametrize(
    "steps",
    [
        (Filled(target=vector(1), element=TWO),),
        (Filled(target=vector(1), element=TWO), Moved(target=vector(1, elements=2), source=vector(0, elements=2))),
        (Filled(target=vector(1), element=TWO), Moved(target=vector(1, dtype="bfloat16"), source=vector(0))),
        (WHOLE, Moved(target=vector(1, elements=5, offset_bytes=4), source=vector(1, elements=5))),
        (Given(storage=1, data=bytes(range(BYTES))),),
        (positions(1, 0, -1), LookedUp(target=rows(0, 3), source=rows(0, 6), positions=AT, dimension=0)),
        (positions(1, 0, -1), LookedUp(target=rows(0, 1, 3), source=TABLE, positions=EACH, dimension=0, each=True)),
    ],
    ids=["fill", "move", "cast", "overlap", "constant", "slices", "elements"],
)  # fmt: skip
def test_steps_give_equal_bytes_on_device_and_host(steps: tuple[Step, ...]) -> None:
    if isinstance(steps[0], Given) and len(steps) == 2:
        steps = (Given(storage=1, data=steps[0].data), *steps[1:])
    there = on_torch(*steps)
    here = replay_on_host(tape(*steps), [content()], {}, poison=zeros)
    assert [part.tolist() for part in there.content] == [part.tolist() for part in here.content]
    assert (there.moved_bytes, there.foreign, there.changed) == (here.moved_bytes, here.foreign, here.changed)


def test_a_position_outside_is_unsupported() -> None:
    look = LookedUp(target=rows(0, 3), source=rows(0, 6), positions=vector(0, elements=3, dtype="int64"), dimension=0)
    with pytest.raises(UnsupportedError, match="a position outside of a dimension of 6"):
        on_torch(look)


def test_positions_of_noise_are_brought_into_range() -> None:
    look = LookedUp(target=rows(0, 3), source=rows(0, 6), positions=AT, dimension=0)
    assert on_torch(positions(60, -70, 8), look).looks_up_foreign


def test_addresses_are_those_of_the_storages() -> None:
    places = tuple(TapedPlace(storage=0, offset_bytes=offset) for offset in (0, 4, 8))
    found = on_torch(Addressed(storage=1, words=places)).content[1].view(np.int64)
    assert (found - found[0]).tolist() == [0, 4, 8]


def test_stored_memory_depends_on_all_used_storages() -> None:
    state = on_torch(Given(storage=0, operator="aten::mm"), launched(vector(0), vector(1)))
    assert (state.launched, state.foreign) == ({1}, {0: {0}, 1: {0}})


def test_memory_that_nothing_wrote_is_noise() -> None:
    assert len(set(on_torch().content[1].tolist())) > 4


def test_a_view_within_an_element_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="begins at byte 2"):
        on_torch(Filled(target=vector(1, elements=2, offset_bytes=2), element=TWO))
