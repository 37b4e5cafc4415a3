"""Two programs that touch one element are told where their order decides, and no others are."""

from __future__ import annotations

import numpy as np
import pytest

from engine import protocol
from engine.worker.monitor.race_witness import MemoryAccess, RaceDetector

FIRST, SECOND = (0, 0, 0), (0, 1, 0)
WITNESS = protocol.ProgramOrder(witness=True)


def stores(program: tuple[int, int, int], value: float, line: int = 7) -> MemoryAccess:
    return MemoryAccess(program=program, line=line, values=np.array([value], dtype=np.float32))


def loads(program: tuple[int, int, int], line: int = 6) -> MemoryAccess:
    return MemoryAccess(program=program, line=line)


def meet(*actions: MemoryAccess) -> list[int | None]:
    """What is said of each of these accesses to element 64."""
    race_detector = RaceDetector()
    with race_detector.during(WITNESS):
        return [race_detector.note(access, np.array([64])) for access in actions]


@pytest.mark.parametrize(
    "actions",
    [
        (stores(FIRST, 1.0), stores(SECOND, 2.0)),
        (stores(FIRST, 1.0), loads(SECOND)),
        (loads(FIRST), stores(SECOND, 1.0)),
        (stores(FIRST, 0.0), stores(SECOND, -0.0)),
    ],
)
def test_programs_conflict_if_one_stores(actions: tuple[MemoryAccess, MemoryAccess]) -> None:
    assert meet(*actions) == [None, 64]


@pytest.mark.parametrize(
    "actions",
    [
        (loads(FIRST), loads(SECOND)),
        (loads(FIRST), stores(FIRST, 1.0), loads(FIRST)),
        (stores(FIRST, 1.0), stores(FIRST, 2.0)),
        (stores(FIRST, 1.0), stores(SECOND, 1.0)),
        (stores(FIRST, float("nan")), stores(SECOND, float("nan"))),
    ],
)
def test_reads_and_equal_stores_do_not_conflict(actions: tuple[MemoryAccess, ...]) -> None:
    assert set(meet(*actions)) == {None}


def test_writer_among_readers_conflicts() -> None:
    assert meet(loads(FIRST), loads(SECOND), stores(FIRST, 1.0)) == [None, None, 64]
    assert meet(loads(FIRST), loads(SECOND), stores(SECOND, 1.0)) == [None, None, 64]


def test_conflict_names_both_programs_in_order() -> None:
    race_detector = RaceDetector()
    with race_detector.during(WITNESS):
        race_detector.note(loads(FIRST), np.array([64]))
        late = stores(SECOND, 1.0)
        assert race_detector.note(late, np.array([64])) == 64
        race_detector.record("k", "y", 16, late)
        assert race_detector.note(stores(FIRST, 2.0), np.array([64])) is None
    assert race_detector.first == protocol.Race(
        kernel="k",
        tensor="y",
        index=16,
        first=protocol.Access(stores=False, program=FIRST, line=6),
        second=protocol.Access(stores=True, program=SECOND, line=7),
    )


def test_programs_of_successive_launches_do_not_conflict() -> None:
    race_detector = RaceDetector()
    with race_detector.during(WITNESS):
        race_detector.note(stores(FIRST, 1.0), np.array([64]))
        race_detector.begin_launch()
        assert race_detector.note(stores(SECOND, 2.0), np.array([64])) is None


@pytest.mark.parametrize("program_order", [None, protocol.ProgramOrder()])
def test_access_is_recorded_only_with_witness(program_order: protocol.ProgramOrder | None) -> None:
    race_detector = RaceDetector()
    with race_detector.during(program_order):
        assert not race_detector.on


def test_the_next_call_begins_without_a_race() -> None:
    race_detector = RaceDetector()
    with race_detector.during(WITNESS):
        race_detector.note(loads(FIRST), np.array([64]))
        late = stores(SECOND, 1.0)
        race_detector.note(late, np.array([64]))
        race_detector.record("k", "y", 0, late)
    with race_detector.during(None):
        assert race_detector.first is None
