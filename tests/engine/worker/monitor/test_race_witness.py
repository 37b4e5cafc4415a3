"""Two programs that touch one element are told where their order decides, and no others are."""

from __future__ import annotations

import numpy as np
import pytest

from engine import protocol
from engine.worker.monitor.race_witness import Deed, Meetings

FIRST, SECOND = (0, 0, 0), (0, 1, 0)
WITNESS = protocol.Disorder(witness=True)


def stores(program: tuple[int, int, int], value: float, line: int = 7) -> Deed:
    return Deed(program=program, line=line, values=np.array([value], dtype=np.float32))


def loads(program: tuple[int, int, int], line: int = 6) -> Deed:
    return Deed(program=program, line=line)


def meet(*deeds: Deed) -> list[int | None]:
    """What is said of each of these accesses to element 64."""
    meetings = Meetings()
    with meetings.during(WITNESS):
        return [meetings.note(deed, np.array([64])) for deed in deeds]


@pytest.mark.parametrize(
    "deeds",
    [
        (stores(FIRST, 1.0), stores(SECOND, 2.0)),
        (stores(FIRST, 1.0), loads(SECOND)),
        (loads(FIRST), stores(SECOND, 1.0)),
        (stores(FIRST, 0.0), stores(SECOND, -0.0)),
    ],
)
def test_programs_meet_where_one_stores(deeds: tuple[Deed, Deed]) -> None:
    assert meet(*deeds) == [None, 64]


@pytest.mark.parametrize(
    "deeds",
    [
        (loads(FIRST), loads(SECOND)),
        (loads(FIRST), stores(FIRST, 1.0), loads(FIRST)),
        (stores(FIRST, 1.0), stores(FIRST, 2.0)),
        (stores(FIRST, 1.0), stores(SECOND, 1.0)),
        (stores(FIRST, float("nan")), stores(SECOND, float("nan"))),
    ],
)
def test_programs_that_only_read_or_store_the_same_do_not_meet(deeds: tuple[Deed, ...]) -> None:
    assert set(meet(*deeds)) == {None}


def test_a_writer_among_the_readers_meets_the_other_one() -> None:
    assert meet(loads(FIRST), loads(SECOND), stores(FIRST, 1.0)) == [None, None, 64]
    assert meet(loads(FIRST), loads(SECOND), stores(SECOND, 1.0)) == [None, None, 64]


def test_what_is_told_names_both_in_their_order() -> None:
    meetings = Meetings()
    with meetings.during(WITNESS):
        meetings.note(loads(FIRST), np.array([64]))
        late = stores(SECOND, 1.0)
        assert meetings.note(late, np.array([64])) == 64
        meetings.tell("k", "y", 16, late)
        assert meetings.note(stores(FIRST, 2.0), np.array([64])) is None
    assert meetings.first == protocol.Meeting(
        kernel="k",
        tensor="y",
        index=16,
        first=protocol.Access(stores=False, program=FIRST, line=6),
        second=protocol.Access(stores=True, program=SECOND, line=7),
    )


def test_launches_follow_each_other_so_that_their_programs_do_not_meet() -> None:
    meetings = Meetings()
    with meetings.during(WITNESS):
        meetings.note(stores(FIRST, 1.0), np.array([64]))
        meetings.begin_launch()
        assert meetings.note(stores(SECOND, 2.0), np.array([64])) is None


@pytest.mark.parametrize("disorder", [None, protocol.Disorder()])
def test_nothing_is_noted_unless_a_witness_was_asked_for(disorder: protocol.Disorder | None) -> None:
    meetings = Meetings()
    with meetings.during(disorder):
        assert not meetings.on


def test_the_next_call_begins_without_a_meeting() -> None:
    meetings = Meetings()
    with meetings.during(WITNESS):
        meetings.note(loads(FIRST), np.array([64]))
        late = stores(SECOND, 1.0)
        meetings.note(late, np.array([64]))
        meetings.tell("k", "y", 0, late)
    with meetings.during(None):
        assert meetings.first is None
