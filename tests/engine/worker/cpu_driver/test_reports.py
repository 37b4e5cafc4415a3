"""What a call reports of its launches: interpreted kernels once, findings about memory each time, the first race."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.machine.ir import SourceLocation
from engine.machine.results import AccessKind, FindingKind, MemoryFinding
from engine.protocol.executing import MOST_REPORTS, MemoryFault
from engine.worker.cpu_driver.reports import Reports

WRITES = MemoryFinding(
    kind=FindingKind.WRITE_CONFLICT,
    access=AccessKind.STORE,
    storage="y",
    element=5,
    elements=8,
    program=3,
    location=SourceLocation(file="k.py", line=7, column=1),
    other_program=1,
    other_location=SourceLocation(file="k.py", line=9, column=1),
    count=4,
)
GRID = (2, 2, 1)


@pytest.fixture
def reports():
    made = Reports()
    made.watch("k.py")
    made.begin()
    return made


def test_a_call_without_news_reports_nothing(reports):
    assert reports.executed() is None
    assert reports.race is None


def test_a_finding_has_programs_lines_and_element(reports):
    reports.note(WRITES, "k", GRID)
    (report,) = reports.executed().memory
    assert (report.fault, report.kernel, report.tensor) == (MemoryFault.CONFLICTING_WRITES, "k", "y")
    assert (report.index, report.elements, report.count) == (5, 8, 4)
    assert (report.access.program, report.access.line) == ((1, 1, 0), 7)
    assert (report.other.program, report.other.line) == ((1, 0, 0), 9)


@pytest.mark.parametrize(
    ("kind", "access", "stores"),
    [
        (FindingKind.WRITE_CONFLICT, AccessKind.STORE, (True, True)),
        (FindingKind.READ_CONFLICT, AccessKind.LOAD, (True, False)),
        (FindingKind.READ_CONFLICT, AccessKind.STORE, (False, True)),
    ],
    ids=["two stores", "load after store", "store after load"],
)
def test_a_conflict_is_a_race_of_both_accesses(reports, kind, access, stores):
    reports.note(replace(WRITES, kind=kind, access=access), "k", GRID)
    race = reports.race
    assert (race.first.stores, race.second.stores) == stores
    assert (race.first.program, race.second.program, race.index) == ((1, 0, 0), (1, 1, 0), 5)


@pytest.mark.parametrize("kind", [FindingKind.OUT_OF_BOUNDS, FindingKind.ASSERTION])
def test_fatal_launch_error_is_not_a_report(reports, kind):
    reports.note(replace(WRITES, kind=kind), "k", GRID)
    assert reports.executed() is None


def test_misaligned_access_is_not_a_race(reports):
    alone = replace(WRITES, kind=FindingKind.MISALIGNED, other_program=None, other_location=None)
    reports.note(alone, "k", GRID)
    assert (reports.race, reports.executed().memory[0].other) == (None, None)


def test_next_call_clears_findings_and_keeps_kernels(reports):
    reports.note(WRITES, "k", GRID)
    reports.note_interpreted("k", "inline assembly")
    assert reports.executed().interpreted[0].reason == "inline assembly"
    reports.begin()
    reports.note_interpreted("k", "another reason")
    assert reports.executed() is None


def test_findings_are_limited_to_reply_size(reports):
    for _ in range(MOST_REPORTS + 1):
        reports.note(WRITES, "k", GRID)
    assert len(reports.executed().memory) == MOST_REPORTS


def tuned_function() -> None:
    """A kernel's function."""


def test_a_tuned_kernel_is_reported_once_with_its_line(reports):
    reports.watch(__file__)
    reports.note_tuned(tuned_function, 3)
    (tuned,) = reports.executed().tuned
    assert (tuned.kernel, tuned.configurations) == ("tuned_function", 3)
    assert tuned.line == tuned_function.__code__.co_firstlineno
    reports.begin()
    reports.note_tuned(tuned_function, 3)
    assert reports.executed() is None


def test_a_tuner_with_one_configuration_is_not_reported(reports):
    reports.note_tuned(tuned_function, 1)
    assert reports.executed() is None
