"""The list of operators: its entries, filters and order, the latest work first."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from textual.fuzzy import FuzzySearch

from engine.model import Outcome, Problem, Tier
from engine.problem_source import ProblemDescription
from kgtui.ports.protocols import LastRun, PastRun, RecentFile
from kgtui.state.format.glyphs import TONES, Glyphs, State
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.format.numbers import bytes_of
from kgtui.state.run.endings import ago, ending_of

MAX_ROWS = 300
RECENT_FILES = 5
COLUMNS = (
    Column(label="operator", width=25, most=40),
    Column(label="source", width=17, least=7, rank=1),
    Column(label="category", width=15, most=25),
    Column(label="last verdict", width=16),
    Column(label="touched", width=11),
    Column(label="runs", width=5),
)
RAIL_COLUMNS = (Column(label="operator", width=26), Column(label="", width=3))


class Progress(enum.StrEnum):
    """Progress on an operator, by its last verdict and its best speed-up."""

    UNTRIED = "untried"
    FAILING = "failing"
    RIGHT = "passing"
    FASTER = "faster"


Known: TypeAlias = Mapping[str, LastRun]
"""Stored results of operators, by name."""


def progress_of(last: LastRun | None) -> Progress:
    """FASTER if it passes and some run was faster than eager; UNTRIED without a whole run."""
    if last is None or not last.run.is_whole:
        return Progress.UNTRIED
    if last.run.outcome is not Outcome.PASS or last.run.flagged:
        return Progress.FAILING
    return Progress.FASTER if last.best_speedup is not None and last.best_speedup > 1 else Progress.RIGHT


@dataclass(frozen=True, kw_only=True)
class Facets:
    """Filters of the list by facet; None in a facet means all."""

    query: str = ""
    source: str | None = None
    category: str | None = None
    dtype: str | None = None
    progress: str | None = None

    def matches(self, problem: ProblemDescription, last: Known) -> bool:
        """Whether the facets, without the query, admit this operator."""
        return self.progress in (None, progress_of(last.get(problem.name))) and self._matches_description(problem)

    def _matches_description(self, problem: ProblemDescription) -> bool:
        return (
            self.source in (None, problem.library)
            and self.category in (None, problem.category)
            and (self.dtype is None or any(dtype.short == self.dtype for dtype in problem.dtypes))
        )

    def admitted(self, problems: tuple[ProblemDescription, ...], last: Known) -> tuple[ProblemDescription, ...]:
        """The operators that the facets, without the query, admit."""
        return tuple(problem for problem in problems if self.matches(problem, last))

    def cycled(self, facet: str, problems: tuple[ProblemDescription, ...], last: Known) -> Facets:
        """The facets with the next value of `facet` that is possible under the others, then all again."""
        match facet:
            case "source":
                left = replace(self, source=None).admitted(problems, last)
                return replace(self, source=_after(self.source, {problem.library for problem in left}))
            case "category":
                left = replace(self, category=None).admitted(problems, last)
                return replace(self, category=_after(self.category, {problem.category for problem in left}))
            case "dtype":
                left = replace(self, dtype=None).admitted(problems, last)
                occurring = {dtype.short for problem in left for dtype in problem.dtypes}
                return replace(self, dtype=_after(self.dtype, occurring))
            case "progress":
                left = replace(self, progress=None).admitted(problems, last)
                occurring = {str(progress_of(last.get(problem.name))) for problem in left}
                return replace(self, progress=_after(self.progress, occurring))
        raise ValueError(f"facets are source, category, dtype and progress, not {facet!r}")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A row of the list: an operator, and for one of the recent files that file and its newest run."""

    problem: ProblemDescription
    file: Path | None = None
    run: PastRun | None = None

    @property
    def key(self) -> str:
        """Key of this row."""
        return self.problem.name if self.file is None else f"{self.problem.name} {self.file}"


def choices(
    problems: tuple[ProblemDescription, ...], recent: tuple[RecentFile, ...], last: dict[str, LastRun], facets: Facets
) -> tuple[Choice, ...]:
    """Recent files, then operators: by how well they match, or those with runs first, newest first."""
    by_name = {problem.name: problem for problem in problems}
    files = tuple(
        Choice(problem=by_name[file.run.problem], file=file.path, run=file.run)
        for file in recent[:RECENT_FILES]
        if file.run.problem in by_name
    )
    search = FuzzySearch()
    scored: list[tuple[float, float, str, Choice]] = []
    for choice in (*files, *(Choice(problem=problem) for problem in problems)):
        problem = choice.problem
        if not facets.matches(problem, last):
            continue
        score = _score(search, facets.query, choice) if facets.query else 1.0
        if score > 0:
            touched = last[problem.name].touched_at.timestamp() if problem.name in last else 0.0
            place = -1.0 if choice.file else 0.0
            scored.append((place if not facets.query else -score, -touched, problem.name, choice))
    if facets.query:
        scored.sort(key=lambda entry: (entry[0], entry[3].file is None, entry[2]))
    else:
        # Files stay newest first, since the sort is stable.
        scored.sort(key=lambda entry: (entry[0], 0.0 if entry[3].file else entry[1], "" if entry[3].file else entry[2]))
    return tuple(entry[3] for entry in scored[:MAX_ROWS])


def operator_rows(
    chosen: tuple[Choice, ...], last: dict[str, LastRun], *, glyphs: Glyphs, now: datetime
) -> tuple[Row, ...]:
    """A row for every choice, with the key of the choice."""
    names = names_apart([choice.file for choice in chosen if choice.file is not None])
    return tuple(
        Row(
            key=choice.key,
            cells=(
                _name_of(choice, names, glyphs),
                muted(choice.problem.library),
                muted(choice.problem.category if not choice.file else choice.problem.name.partition("::")[2]),
                *_cells_of(choice, last.get(choice.problem.name), glyphs, now),
            ),
        )
        for choice in chosen
    )


def names_apart(files: Sequence[Path]) -> dict[Path, str]:
    """The name of each file; of several files of one name, with as many of its folders as tell them apart."""
    names = {}
    for file in files:
        alike = {other for other in files if other.name == file.name}
        depth = 1
        while len({other.parts[-depth:] for other in alike}) < len(alike):
            depth += 1
        names[file] = str(Path(*file.parts[-depth:]))
    return names


def rail_rows(problems: tuple[ProblemDescription, ...], last: dict[str, LastRun], *, glyphs: Glyphs) -> tuple[Row, ...]:
    """The short list beside the workbench; a row's key is the operator's name."""
    rows = []
    for problem in problems[:MAX_ROWS]:
        state = _last_state(last.get(problem.name))
        rows.append(Row(key=problem.name, cells=(Span(problem.name), Span(glyphs.state(state), TONES[state]))))
    return tuple(rows)


def progress_line(problems: tuple[ProblemDescription, ...], last: Known) -> Line:
    """Number of operators that pass, and of those faster than PyTorch eager."""
    counts = Counter(progress_of(last.get(problem.name)) for problem in problems)
    right = counts[Progress.RIGHT] + counts[Progress.FASTER]
    faster = strong(f"{counts[Progress.FASTER]}")
    return line(strong(f"{right}"), muted(f" of {len(problems)} passing, "), faster, muted(" faster"))


def facet_line(facets: Facets, shown: int, total: int) -> Line:
    """Current filters of the list, and the number of shown operators; a chosen value stands without its name."""
    parts: list[Span] = [strong(f"{shown}"), muted(f" of {total}   ")]
    for key, name, value in (
        ("s", "source", facets.source),
        ("c", "category", facets.category),
        ("d", "dtype", facets.dtype),
        ("t", "state", facets.progress),
    ):
        chosen = (Span(" "), strong(value)) if value else (muted(f" {name} all"),)
        parts += [Span(key, Tone.LINK), *chosen, Span("   ")]
    return tuple(parts[:-1])


def preview(
    described: ProblemDescription, problem: Problem | None, *, file: str, file_exists: bool, sample: bool
) -> tuple[Line, ...]:
    """Preview of an operator before it is opened; shorter if only its description is known."""
    if file_exists:
        opens = f"enter opens {file}"
    elif sample:
        opens = f"enter copies the sample to {file}"
    else:
        opens = f"n makes {file} from a template"
    return (
        line(strong(described.name), muted(f"  {described.category}")),
        line(described.summary),
        (),
        line(muted("signature  "), described.signature),
        *_audit_lines(described),
        *(_case_lines(problem) if problem is not None else ()),
        line(muted("file       "), Span(opens, Tone.LINK)),
    )


def _audit_lines(described: ProblemDescription) -> tuple[Line, ...]:
    if not described.weakness:
        return ()
    return (line(muted("audit      "), Span(f"verdicts unreliable: {described.weakness}", Tone.WARN)),)


def _case_lines(problem: Problem) -> tuple[Line, ...]:
    tiers = Counter(case.tier for case in problem.cases)
    counts = ", ".join(f"{tiers[tier]} {tier}" for tier in Tier if tiers[tier])
    if problem.suite is not None:
        return (
            line(muted("cases      "), counts),
            line(muted("tolerance  "), "calibrated when the reference runs"),
            line(muted("cost       "), "measured when the reference runs"),
        )
    dtypes = " ".join(dict.fromkeys(case.dtype.short for case in problem.cases))
    case = problem.cases[0]
    cost, tolerance = problem.cost(case), problem.tolerance(case)
    exact = tolerance.relative == tolerance.absolute == 0
    equal = "equal to the bit" if tolerance.signed_zeros else "equal, zeros of either sign"
    bound = equal if exact else f"relative {tolerance.relative:.1e}, absolute {tolerance.absolute:.1e}"
    moved = f"{cost.flops:,} flops, {bytes_of(cost.bytes_read)} read, {bytes_of(cost.bytes_written)} written"
    return (
        line(muted("cases      "), counts),
        line(muted("dtypes     "), dtypes),
        line(muted("tolerance  "), f"{bound}", muted(f"  ({case.name})")),
        line(muted("cost       "), moved, muted(f"  ({case.name})")),
    )


def _score(search: FuzzySearch, query: str, choice: Choice) -> float:
    names = (choice.problem.name, choice.problem.category, choice.file.name if choice.file else "")
    return max(search.match(query, name)[0] for name in names if name)


def _after(value: str | None, occurring: set[str]) -> str | None:
    values = sorted(occurring)
    if value is None:
        return values[0] if values else None
    place = values.index(value) + 1 if value in values else len(values)
    return values[place] if place < len(values) else None


def _name_of(choice: Choice, names: Mapping[Path, str], glyphs: Glyphs) -> Span:
    """The file, or the operator, marked if an audit found it weak."""
    if choice.file:
        return Span(f"{glyphs.then} {names[choice.file]}", Tone.LINK)
    return Span(f"{choice.problem.name} !", Tone.WARN) if choice.problem.weakness else Span(choice.problem.name)


def _cells_of(choice: Choice, last: LastRun | None, glyphs: Glyphs, now: datetime) -> tuple[Span, Span, Span]:
    """The last verdict on a file, or on the operator in any file; its date; and its number of runs."""
    run = choice.run or (last.run if last else None)
    if run is None:
        return muted(glyphs.dash), muted(glyphs.dash), muted("0")
    runs = muted(str(last.runs)) if last and not choice.file else Span("")
    touched = muted(ago(last.touched_at if last and not choice.file else run.started_at, now))
    if run.picked or run.outcome is Outcome.CANCELLED:
        return muted(f"{glyphs.dash} none yet"), touched, runs  # no run of all cases has a verdict
    state, word = ending_of(run)
    best = f" {last.best_speedup:.3g}x" if last and last.best_speedup and not choice.file else ""
    return Span(f"{glyphs.state(state)} {word}{best}", TONES[state]), touched, runs


def _last_state(last: LastRun | None) -> State:
    if last is None or last.run.picked or last.run.outcome is Outcome.CANCELLED:
        return State.IDLE
    return ending_of(last.run)[0]
