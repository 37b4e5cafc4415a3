"""Sides of a comparison: two to four runs of one operator, and their selection.
The first side is the reference, with which the others are compared.  Marked sides are in the order of their runs; the
best run so far is before the current one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.errors import UsageError
from engine.model import Outcome
from engine.reports.run_record import RunRecord
from kgtui.ports.protocols import BestRun, PastRun
from kgtui.state.history.past_runs import one_line
from sessions.rows import Answer, RunRow

FEWEST, MOST = 2, 4
_ALONE = "no other version of this operator in the history; save another one, or mark two runs there with space"


@dataclass(frozen=True, kw_only=True)
class Side:
    """One run with its source, its versions and device, and the model that wrote it, if any."""

    run: RunRow
    view: RunRecord
    source: bytes
    environment: Mapping[str, str] = field(default_factory=dict)
    answer: Answer | None = None

    @property
    def name(self) -> str:
        """Name of the side."""
        return f"#{self.run.id}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The source, line by line."""
        return tuple(self.source.decode("utf-8", errors="replace").splitlines())

    @property
    def filename(self) -> str:
        """The file name of the run, on one line; empty if there was none."""
        return one_line(self.run.path.name) if self.run.path is not None else ""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The runs to compare, the reference first, and the reason for the choice."""

    numbers: tuple[int, ...]
    why: str


def toggled(marked: Sequence[int], number: int) -> tuple[int, ...]:
    """The marked runs after marking or unmarking this one.

    Raises:
        UsageError: no more can be marked.
    """
    if number in marked:
        return tuple(one for one in marked if one != number)
    if len(marked) >= MOST:
        names = ", ".join(f"#{one}" for one in marked)
        raise UsageError(f"{names} are marked, and more than {MOST} do not fit side by side; space unmarks one")
    return tuple(sorted((*marked, number)))


def unmarked(marked: Sequence[int]) -> str:
    """Message once every mark is removed."""
    names = ", ".join(f"#{one}" for one in marked)
    return f"no longer marked: {names}" if marked else "no run is marked; space marks one"


def chosen(
    marked: Sequence[int],
    *,
    current: int | None,
    digest: str = "",
    best: BestRun | None = None,
    runs: Sequence[PastRun] = (),
) -> Choice:
    """The runs to compare: the marked ones; a single one, or without marks the best, with the current one.
    `digest` is the hash of the current run's source, and `runs` are those of its operator, newest first.

    Raises:
        UsageError: there are not two; the message says what to do.
    """
    if len(marked) >= FEWEST:
        return Choice(numbers=tuple(sorted(marked)), why="the runs that were marked")
    if current is None:
        raise UsageError("no run to compare yet; r runs the file, and space marks runs in the history")
    current = _whole(current, digest=digest, runs=runs)
    if marked and marked[0] != current:
        return Choice(
            numbers=(marked[0], current), why=f"#{marked[0]}, which was marked, against #{current}, the current run"
        )
    if best is not None and best.number != current:
        return Choice(
            numbers=(best.number, current),
            why=f"#{best.number}, the best run so far, against #{current}, the current run",
        )
    others = [run for run in runs if run.number != current and run.digest != digest]
    others = [run for run in others if run.is_whole] or others
    right = _with_most_cases([run for run in others if run.outcome is Outcome.PASS and not run.flagged])
    if not others:
        raise UsageError(_ALONE)
    beside = (right or others)[0].number
    return Choice(numbers=(beside, current), why=_why(beside, current, is_best=best is not None, is_right=bool(right)))


def _whole(current: int, *, digest: str, runs: Sequence[PastRun]) -> int:
    """The current run, or if it ended incomplete, the newest whole run of the same source."""
    if not any(run.number == current and run.outcome is not None and not run.is_whole for run in runs):
        return current
    return next((run.number for run in runs if run.digest == digest and run.is_whole), current)


def require_one_operator(sides: Sequence[Side]) -> None:
    """Reject runs of different operators, which have different cases.

    Raises:
        UsageError: they are of several operators.
    """
    problems = dict.fromkeys(side.run.problem for side in sides)
    if len(problems) > 1:
        of = ", ".join(f"{side.name} of {side.run.problem}" for side in sides)
        raise UsageError(f"runs must be of the same operator: {of}")


def _with_most_cases(runs: Sequence[PastRun]) -> list[PastRun]:
    """Runs with the most cases: a run of a single selected case says nothing about the others."""
    most = max((run.total or 0 for run in runs), default=0)
    return [run for run in runs if (run.total or 0) == most]


def _why(beside: int, current: int, *, is_best: bool, is_right: bool) -> str:
    """Sentence with the reason for comparing with this version."""
    best = f"#{current} is the best run so far" if is_best else "no best run yet"
    said = " that passed" if is_right else "; no other run of all cases passed"
    return f"{best}; #{beside} is the newest other{said}"
