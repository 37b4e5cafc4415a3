"""Moves that may have computed an answer that is a rearrangement are found; copies of whole tensors are allowed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from engine import protocol
from engine.model import Rearrangement
from engine.protocol.proof.tape import (
    Filled,
    Given,
    Launched,
    LookedUp,
    Moved,
    Step,
    Tape,
    TapedArgument,
    TapedStorage,
    TapedView,
)
from engine.replay.rearranged import Rearranged, rearranged_of
from tests.engine.replay.tapes import BYTES, ELEMENTS, content, double, launched, replay_on_host, tape, vector, zeros

ARGUMENT = protocol.TensorSpec(storage=0, dtype="float32", shape=(ELEMENTS,), strides=(1,), first=0)
HALF = ELEMENTS // 2
LEFT, RIGHT = (vector(1, elements=HALF, offset_bytes=4 * HALF * part) for part in (0, 1))
SWAPPED = (
    Moved(target=LEFT, source=vector(0, elements=HALF, offset_bytes=4 * HALF)),
    Moved(target=RIGHT, source=vector(0, elements=HALF)),
)
WHOLE = Moved(target=vector(1), source=vector(0))


def table(storage: int, strides: tuple[int, int]) -> TapedView:
    """A view of 2 x 3 elements."""
    return TapedView(storage=storage, dtype="float32", offset_bytes=0, shape=(2, 3), strides=strides)


def first_move(
    steps: Sequence[Step], output: int, rearrangement: Rearrangement, *, argument: protocol.TensorSpec = ARGUMENT
) -> int | None:
    """The number of the move that may have computed storage `output`."""
    recorded = tape(*steps, returned=(vector(output),), storages=3)
    command = protocol.ReplayTape(
        id="i", tape=recorded, kernels=("k",), arena=protocol.ArenaSpec(storages=(), bytes=0), outputs="",
        max_output_bytes=0, most_bytes=0, arguments=(argument,), rearrangement=rearrangement,
    )  # fmt: skip
    arguments = [content()]
    rearranged = rearranged_of(recorded, command, arguments)
    state = replay_on_host(recorded, arguments, {0: double()}, poison=zeros, rearranged=rearranged)
    if rearranged is None:
        return None
    return rearranged.step_behind([vector(output)], state.content)


@pytest.mark.parametrize(
    ("steps", "output", "move"),
    [
        ((*SWAPPED,), 1, 0),
        ((*SWAPPED, launched(vector(1), vector(2))), 2, 0),
        ((WHOLE,), 1, 0),
        ((WHOLE, launched(vector(1), vector(2))), 2, None),
        ((Moved(target=table(1, (3, 1)), source=table(0, (1, 2))), launched(vector(1), vector(2))), 2, 0),
        ((launched(vector(0), vector(1)), Moved(target=vector(2), source=vector(1))), 2, None),
        ((Filled(target=vector(2), element=bytes(4)), launched(vector(0), vector(2))), 2, None),
        ((Filled(target=vector(2), element=bytes(4)),), 2, 0),
    ],
    ids=[
        "joined",
        "joined, kernel behind",
        "copied",
        "copied, kernel",
        "transposed",
        "moved back",
        "cleared",
        "filled",
    ],
)
def test_move_that_may_make_the_output_is_found(steps, output, move):
    assert first_move(steps, output, Rearrangement.YES) == move
    assert first_move(steps, output, Rearrangement.NO) is None


@pytest.mark.parametrize(
    ("own", "target", "kernel", "move"),
    [
        ((1, 2), (1, 2), True, None),
        ((1, 2), (3, 1), True, None),
        ((3, 1), (1, 2), True, 0),
        ((1, 2), (1, 2), False, 0),
        ((3, 1), (3, 1), False, 0),
    ],
    ids=["clone", "contiguous", "transposed", "clone is the answer", "copy is the answer"],
)
def test_copy_of_an_argument_keeps_the_order_of_its_dimensions(own, target, kernel, move):
    argument = protocol.TensorSpec(storage=0, dtype="float32", shape=(2, 3), strides=own, first=0)
    steps = [Moved(target=table(1, target), source=table(0, own))]
    if kernel:
        steps.append(launched(vector(1), vector(2)))
    assert first_move(steps, 2 if kernel else 1, Rearrangement.YES, argument=argument) == move


def test_a_look_up_before_a_kernel_is_found():
    at = TapedView(storage=2, dtype="int32", offset_bytes=0, shape=(ELEMENTS,), strides=(1,))
    steps = (
        Moved(target=at, source=vector(0)),
        LookedUp(target=vector(1), source=vector(0), positions=at, dimension=0),
        launched(vector(1), vector(2)),
    )
    assert first_move(steps, 2, Rearrangement.YES) == 1


@pytest.mark.parametrize(("output", "move"), [(1, 0), (2, None)], ids=["elements of the argument", "others"])
def test_the_content_of_an_answer_shows_a_rearrangement(output, move):
    assert first_move((*SWAPPED, launched(vector(1), vector(2))), output, Rearrangement.BY_CONTENT) == move


@pytest.mark.parametrize(
    ("dtype", "rearrangement", "move"),
    [
        ("int64", Rearrangement.BY_POSITIONS, None),
        ("float32", Rearrangement.BY_POSITIONS, 0),
        ("int64", Rearrangement.YES, 0),
    ],
    ids=["positions", "elements", "integers that a kernel casts"],
)
def test_moves_of_positions_are_allowed(dtype, rearrangement, move):
    places = protocol.TensorSpec(storage=0, dtype=dtype, shape=(ELEMENTS,), strides=(1,), first=0)
    assert first_move((*SWAPPED, launched(vector(1), vector(2))), 2, rearrangement, argument=places) == move


@pytest.mark.parametrize(
    ("stored", "made"), [((), True), ((1,), False)], ids=["by moves alone", "with what a kernel stored"]
)
def test_memory_holding_the_output_shows_its_origin(stored, made):
    steps = (
        Moved(target=part_of(1, 0), source=part_of(0, 6)),
        Moved(target=part_of(1, 6), source=part_of(0, 0)),
        Moved(target=wide(2), source=wide(1)),
    )
    storages = (TapedStorage(bytes=48, argument=0), TapedStorage(bytes=48), TapedStorage(bytes=48))
    recorded = msgspec.structs.replace(tape(*steps), storages=storages)
    rearranged = Rearranged(recorded, (wide(0),))
    held = [np.arange(12, dtype=np.float32).view(np.uint8).copy()]
    state = replay_on_host(recorded, held, {}, poison=zeros, rearranged=rearranged)
    assert rearranged.made((wide(2),), state.content, {2, *stored}) is made


@pytest.mark.parametrize(("data", "move"), [(bytes(48), None), (None, 1)], ids=["constant", "content"])
def test_moves_of_constants_rearrange_no_elements(data, move):
    given = Given(storage=1, operator="aten::mul", data=data)
    swapped = Moved(target=part_of(2, 0), source=part_of(1, 6))
    storages = (TapedStorage(bytes=48, argument=0), *(TapedStorage(bytes=48),) * 3)
    rearranged = Rearranged(msgspec.structs.replace(tape(given, swapped), storages=storages), (wide(0),))
    held = [np.arange(first, first + 12, dtype=np.float32).view(np.uint8) for first in range(4)]
    rearranged.note(0, given, held, ())
    rearranged.note(1, swapped, held, ())
    rearranged.note_launch(launched(wide(2), wide(3)), {3}, {3})
    assert rearranged.step_behind([wide(3)], held) == move


def test_argument_beside_a_rearranged_table_is_not_made_by_moves():
    swapped = Moved(target=part_of(1, 0), source=part_of(3, 6))
    storages = (TapedStorage(bytes=48, argument=0), *(TapedStorage(bytes=48),) * 3)
    rearranged = Rearranged(msgspec.structs.replace(tape(swapped), storages=storages), (wide(0),))
    answer, other = (np.arange(first, first + 12, dtype=np.float32).view(np.uint8) for first in (0, 5))
    held = [answer, other, answer.copy(), other]
    rearranged.note(0, swapped, held, ())
    rearranged.note_launch(launched(wide(0), wide(1)), {1}, {2})
    assert not rearranged.made((wide(2),), held, {2})


def wide(storage: int) -> TapedView:
    """Twelve elements."""
    return vector(storage, elements=12)


def part_of(storage: int, first: int) -> TapedView:
    """Six of them."""
    return vector(storage, elements=6, offset_bytes=4 * first)


POSITIONS = protocol.TensorSpec(storage=1, dtype="int64", shape=(3,), strides=(1,), first=0)
AT = vector(3, elements=3, dtype="int64")


def move_before_placing(steps: Sequence[Step], output: int, rearrangement: Rearrangement) -> int | None:
    """As `first_move`, for a call that is given positions too, which are storage 3."""
    recorded = tape(*steps, returned=(vector(output),), storages=3)
    storages = (*recorded.storages, TapedStorage(bytes=24, argument=1))
    recorded = msgspec.structs.replace(recorded, storages=storages)
    command = protocol.ReplayTape(
        id="i", tape=recorded, kernels=("k",), arena=protocol.ArenaSpec(storages=(), bytes=0), outputs="",
        max_output_bytes=0, most_bytes=0, arguments=(ARGUMENT, POSITIONS), rearrangement=rearrangement,
    )  # fmt: skip
    arguments = [content(), np.arange(3).view(np.uint8)]
    rearranged = rearranged_of(recorded, command, arguments)
    assert rearranged is not None
    state = replay_on_host(recorded, arguments, {0: double()}, poison=zeros, rearranged=rearranged)
    return rearranged.step_behind([vector(output)], state.content)


def placing(x: TapedView, y: TapedView) -> Launched:
    """A launch that is given the positions too."""
    step = launched(x, y)
    return msgspec.structs.replace(step, arguments=(*step.arguments, TapedArgument(name="at", value=AT)))


SWAPPED_AGAIN = tuple(
    Moved(
        target=msgspec.structs.replace(step.target, storage=2), source=msgspec.structs.replace(step.source, storage=1)
    )
    for step in SWAPPED
)
BY_LOOK_UP = (
    LookedUp(target=vector(2, elements=HALF), source=vector(0), positions=AT, dimension=0),
    Moved(target=RIGHT, source=vector(2, elements=HALF)),
)


@pytest.mark.parametrize(
    ("steps", "output", "rearrangement", "move"),
    [
        ((*SWAPPED, placing(vector(1), vector(2))), 2, Rearrangement.BY_POSITIONS, None),
        ((*SWAPPED, placing(vector(1), vector(2))), 2, Rearrangement.YES, 0),
        ((*SWAPPED, launched(vector(1), vector(2))), 2, Rearrangement.BY_POSITIONS, 0),
        ((placing(vector(0), vector(2)), *SWAPPED), 1, Rearrangement.BY_POSITIONS, 1),
        ((LookedUp(target=LEFT, source=vector(0), positions=AT, dimension=0), placing(vector(1), vector(2))), 2,
         Rearrangement.BY_POSITIONS, 0),
        ((*BY_LOOK_UP, placing(vector(1), vector(2))), 2, Rearrangement.BY_POSITIONS, 0),
        ((*SWAPPED, placing(vector(1), vector(1))), 1, Rearrangement.BY_POSITIONS, None),
        ((placing(vector(0), vector(1)), *SWAPPED_AGAIN), 2, Rearrangement.BY_POSITIONS, None),
        ((placing(vector(0), vector(1)), *SWAPPED_AGAIN), 2, Rearrangement.YES, 1),
        ((launched(vector(0), vector(1)), *SWAPPED_AGAIN), 2, Rearrangement.BY_POSITIONS, 1),
        ((*BY_LOOK_UP, placing(vector(0), vector(1)), *SWAPPED_AGAIN), 2, Rearrangement.BY_POSITIONS, 0),
        ((placing(vector(0), vector(1)), WHOLE, *SWAPPED_AGAIN), 2, Rearrangement.BY_POSITIONS, 2),
    ],
    ids=["before a launch by positions", "where integers are elements", "before another launch", "alone",
         "a look-up by positions", "a look-up that is moved", "in place", "after a launch by positions",
         "after one that gets elements", "after another launch", "a look-up in place", "after what replaced it"],
)  # fmt: skip
def test_moves_around_a_launch_by_positions_are_allowed(steps, output, rearrangement, move):
    assert move_before_placing(steps, output, rearrangement) == move


@pytest.mark.parametrize(
    ("steps", "output", "move"),
    [
        ((*SWAPPED, launched(vector(1), vector(1))), 1, None),
        ((launched(vector(0), vector(1)), *SWAPPED_AGAIN), 2, None),
        ((*SWAPPED,), 1, 0),
    ],
    ids=["before", "after", "alone"],
)
def test_moves_around_a_launch_by_order_are_allowed(steps, output, move):
    assert first_move(steps, output, Rearrangement.BY_ORDER) == move


@pytest.mark.parametrize(("rearrangement", "made"), [(Rearrangement.BY_POSITIONS, False), (Rearrangement.YES, True)])
def test_launch_by_what_may_be_positions_is_no_certain_move(rearrangement, made):
    elements, places, answer = (vector(storage, elements=8, dtype="int64") for storage in range(3))
    halves = [vector(at, elements=4, offset_bytes=16 * at, dtype="int64") for at in (0, 2)]
    storages = (TapedStorage(bytes=64, argument=0), TapedStorage(bytes=64, argument=1), TapedStorage(bytes=64))
    recorded = msgspec.structs.replace(tape(returned=(answer,)), storages=storages)
    rearranged = Rearranged(recorded, (elements, places), rearrangement=rearrangement)
    held = [np.arange(8).view(np.uint8)] * 3
    rearranged.note(0, Moved(target=halves[1], source=halves[0]), held, ())
    rearranged.note_launch(launched(places, answer), {2}, {2})
    assert rearranged.step_behind([answer], held) == 0
    assert rearranged.made([answer], held, ()) is made


@pytest.mark.parametrize(
    ("rearrangement", "move"), [(Rearrangement.BY_CONTENT, 0), (Rearrangement.SUMMED_BY_POSITIONS, None)]
)
def test_moves_around_a_launch_that_sums_by_positions_are_allowed(rearrangement, move):
    elements, answer = wide(0), wide(2)
    storages = (TapedStorage(bytes=48, argument=0), TapedStorage(bytes=24, argument=1), TapedStorage(bytes=48))
    recorded = msgspec.structs.replace(tape(returned=(answer,)), storages=storages)
    places = vector(1, elements=3, dtype="int64")
    held = [np.arange(12, dtype=np.float32).view(np.uint8)] * 3
    rearranged = Rearranged(
        recorded, (elements, places), rearrangement=rearrangement, elements=[np.arange(12, dtype=np.float32)]
    )
    rearranged.note(0, Moved(target=part_of(2, 6), source=part_of(0, 0)), held, ())
    rearranged.note_launch(launched(places, answer), {2}, {2})
    assert rearranged.step_behind([answer], held) == move


PADDED_ROWS = msgspec.structs.replace(table(1, (4, 1)), offset_bytes=4)  # in memory of 9 elements
TURNED_ROWS = msgspec.structs.replace(table(1, (1, 4)), offset_bytes=4)
ROWS = table(0, (3, 1))


@pytest.mark.parametrize(
    ("moves", "answer_bytes", "move"),
    [
        ([Moved(target=PADDED_ROWS, source=ROWS)], 72, None),
        ([Moved(target=PADDED_ROWS, source=ROWS)], 68, 0),
        ([Moved(target=TURNED_ROWS, source=ROWS)], 72, 0),
        ([Moved(target=vector(1, elements=3), source=vector(0, elements=3))], 72, 0),
        ([Moved(target=PADDED_ROWS, source=ROWS)] * 2, 72, 1),
    ],
    ids=["padded", "more than half of the answer", "turned", "a part", "joined"],
)
def test_padding_of_half_the_answer_is_no_rearrangement(moves, answer_bytes, move):
    answer = vector(2, elements=answer_bytes // 4)
    storages = (
        TapedStorage(bytes=BYTES, argument=0),
        TapedStorage(bytes=36),
        TapedStorage(bytes=answer_bytes),
    )
    recorded = msgspec.structs.replace(tape(returned=(answer,)), storages=storages)
    rearranged = Rearranged(recorded, (ROWS,), rearrangement=Rearrangement.YES)
    held = [np.arange(first, first + one.bytes, dtype=np.uint8) for first, one in enumerate(storages)]
    for number, one in enumerate(moves):
        rearranged.note(number, one, held, ())
    rearranged.note_launch(launched(vector(1), answer), {2}, {2})
    assert rearranged.step_behind([answer], held) == move


@pytest.mark.parametrize(("output", "made"), [(2, False), (1, True)], ids=["copied by a kernel", "itself"])
def test_padding_that_equals_the_answer_may_have_made_it(output, made):
    answer = vector(output, elements=9)
    storages = (TapedStorage(bytes=BYTES, argument=0), TapedStorage(bytes=36), TapedStorage(bytes=36))
    recorded = msgspec.structs.replace(tape(returned=(answer,)), storages=storages)
    rearranged = Rearranged(recorded, (ROWS,), rearrangement=Rearrangement.YES)
    held = [content(), *[np.arange(9, dtype=np.float32).view(np.uint8)] * 2]
    rearranged.note(0, Moved(target=PADDED_ROWS, source=ROWS), held, ())
    rearranged.note_launch(launched(vector(1), vector(2)), {2}, {2})
    assert rearranged.step_behind([answer], held) == 0
    assert rearranged.made([answer], held, {2}) is made


def test_a_move_that_holds_the_answer_is_found():
    rows = Moved(target=vector(1, elements=2 * ELEMENTS), source=vector(0, elements=2 * ELEMENTS))
    large = 8 * ELEMENTS
    transposed = msgspec.structs.replace(rows.source, shape=(2, ELEMENTS), strides=(1, 2))
    recorded = Tape(
        storages=(
            TapedStorage(bytes=large, argument=0), TapedStorage(bytes=large), TapedStorage(bytes=large),
            TapedStorage(bytes=24, argument=1),
        ),
        specialisations=(),
        steps=(),
        returned=(rows.target,),
    )  # fmt: skip
    views = (rows.source, AT)
    rearranged = Rearranged(recorded, views)
    values = [np.arange(2 * ELEMENTS, dtype=np.float32).view(np.uint8) for _ in range(3)]
    move = Moved(
        target=msgspec.structs.replace(rows.target, shape=(2, ELEMENTS), strides=(ELEMENTS, 1)), source=transposed
    )
    rearranged.note(0, move, values, ())
    rearranged.note_launch(placing(vector(1), vector(2)), {2}, {2})
    output = vector(2, elements=2 * ELEMENTS)
    assert rearranged.step_behind([output], values) == 0
    values[1] = values[1][::-1].copy()
    assert rearranged.step_behind([output], values) is None
