"""The part of a tape that its outputs need."""

from __future__ import annotations

import msgspec
import pytest

from engine.protocol.proof.tape import Addressed, ClaimedKernel, Filled, Given, LookedUp, Moved, TapedPlace
from engine.replay.needed import needed_part
from tests.engine.replay.tapes import BYTES, ELEMENTS, launch_record, launched, tape, vector

LAUNCH = launched(vector(0), vector(1))
UNUSED = Filled(target=vector(2), element=bytes(4))
POSITIONS = vector(2, dtype="int32")
LATER = launched(vector(2), vector(1))


def _steps(*steps, storages=4):
    return needed_part(tape(*steps, storages=storages)).steps


@pytest.mark.parametrize(
    "step",
    [
        UNUSED,
        Filled(target=vector(2, dtype="complex32"), element=bytes(4)),
        Moved(target=vector(2), source=vector(0)),
        LookedUp(target=vector(2), source=vector(0), positions=vector(0, dtype="int32"), dimension=0),
        Given(storage=2, reads=(0,), operator="aten::gt"),
        Addressed(storage=2, words=(TapedPlace(storage=0, offset_bytes=0),) * 3),
        launched(vector(2), vector(3)),
    ],
    ids=["fill", "fill of an unknown type", "move", "look-up", "operator", "table", "launch"],
)
def test_step_that_reaches_no_output_is_left_out(step):
    assert _steps(step, LAUNCH, step) == (LAUNCH,)


@pytest.mark.parametrize(
    "step",
    [
        UNUSED,
        Moved(target=vector(2), source=vector(0)),
        LookedUp(target=vector(2), source=vector(0), positions=vector(0, dtype="int32"), dimension=0),
        Given(storage=2, data=bytes(BYTES)),
        launched(vector(0), vector(2)),
    ],
    ids=["fill", "move", "look-up", "constant", "launch"],
)
def test_step_that_a_later_launch_needs_is_kept(step):
    assert _steps(step, LATER) == (step, LATER)


def test_positions_of_a_look_up_are_needed():
    look_up = LookedUp(target=vector(1), source=vector(0), positions=POSITIONS, dimension=0)
    fill = Filled(target=POSITIONS, element=bytes(4))
    assert _steps(fill, look_up) == (fill, look_up)


def test_content_that_an_operator_replaces_is_not_needed():
    given = Given(storage=2, data=bytes(BYTES))
    assert _steps(UNUSED, given, LATER) == (given, LATER)


def test_content_that_an_operator_read_is_needed():
    given = Given(storage=2, reads=(3,), operator="aten::add")
    fill = Filled(target=vector(3), element=bytes(4))
    assert _steps(fill, given, LATER) == (fill, given, LATER)


def test_write_to_an_argument_is_needed():
    fill = Filled(target=vector(0), element=bytes(4))
    assert _steps(LAUNCH, fill) == (LAUNCH, fill)


def _table(storage: int, place: int) -> Addressed:
    return Addressed(storage=storage, words=(TapedPlace(storage=place, offset_bytes=0), 5, 6))


@pytest.mark.parametrize(
    "steps",
    [
        (_table(2, 0), launched(vector(2), vector(3))),
        (_table(3, 0), Moved(target=vector(2), source=vector(3)), launched(vector(2), vector(2))),
        (_table(3, 0), launched(vector(3), vector(2)), launched(vector(2), vector(2))),
        (_table(2, 0), _table(3, 2), launched(vector(3), vector(3))),
    ],
    ids=["table", "copied table", "table of a kernel", "table of tables"],
)
def test_launch_that_gets_the_address_of_an_output_is_needed(steps):
    assert _steps(*steps) == steps


def test_memory_whose_address_is_in_a_needed_table_is_needed():
    table = Addressed(storage=2, words=(TapedPlace(storage=3, offset_bytes=0),) * 3)
    fill, other = Filled(target=vector(3), element=bytes(4)), Filled(target=vector(4), element=bytes(4))
    steps = (other, table, fill, LATER)
    assert _steps(*steps, storages=5) == (table, fill, LATER)


def test_specialisations_of_other_launches_are_left_out():
    first, second = (
        msgspec.structs.replace(launched(vector(place), vector(place + 1)), specialisation=number)
        for number, place in enumerate((2, 0))
    )
    both = msgspec.structs.replace(
        tape(first, second, storages=4),
        specialisations=(launch_record("first"), launch_record("second")),
        claimed=tuple(ClaimedKernel(ttir=name, arguments=()) for name in ("first", "second")),
    )
    needed = needed_part(both)
    assert [launch.kernel for launch in needed.specialisations] == ["second"]
    assert [claimed.ttir for claimed in needed.claimed] == ["second"]
    assert [step.specialisation for step in needed.launches] == [0]


def test_memory_of_other_steps_takes_no_bytes():
    needed = needed_part(tape(UNUSED, LAUNCH, storages=3))
    assert [storage.bytes for storage in needed.storages] == [BYTES, BYTES, 0]


def test_tape_without_other_steps_is_the_same():
    recorded = tape(launched(vector(0), vector(1), n=ELEMENTS))
    assert needed_part(recorded) is recorded


def test_tape_that_contradicts_itself_is_returned_as_it_is():
    unknown = msgspec.structs.replace(LAUNCH, specialisation=7)
    recorded = tape(UNUSED, unknown, storages=3)
    assert needed_part(recorded) is recorded
