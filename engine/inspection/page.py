"""The page of an inspection in blocks for every format: sections of entries and tables, with their meaning.

Only words and their order.  Control characters in text that a candidate may have written are escaped here; escaping for
a format is done by that format.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.inspection.evidence import FindingSeen, Inspection, LayerSeen
from engine.inspection.speedup_claim import Backing, ClaimResult
from engine.model import Outcome, Severity, Tier, Verdict
from engine.model.counts import counted
from engine.model.layers import Coverage, Layer, LayerReport
from engine.reports.bench import bench_cells, failure_of
from engine.reports.output import diagnosis_lines
from engine.reports.printable import printable
from engine.reports.remarks import remarks_on
from engine.reports.run_record import RunRecord
from engine.reports.text import located, numbered
from engine.reports.verdict_words import word_of
from engine.verdict.policy import WEIGHTS, Effect


class Mark(enum.StrEnum):
    """Meaning of a word on the page; a format gives it a colour, and the word is complete without one."""

    PLAIN = "plain"
    MUTED = "muted"
    GOOD = "good"
    DOUBT = "doubt"
    BAD = "bad"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A named item with its state in a word, a sentence, and lines below; `line` is its line in the source."""

    name: str
    state: str = ""
    mark: Mark = Mark.PLAIN
    text: str = ""
    details: tuple[str, ...] = ()
    line: int | None = None
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page; `rows` are a table whose first row is its header."""

    title: str
    entries: tuple[Entry, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """The whole page: its subject, the verdict as a word and as a sentence, the claim, and the sections."""

    title: str
    subject: str
    word: str
    mark: Mark
    headline: str
    claim: Entry | None
    sections: tuple[Section, ...]


_SEVERITIES: Mapping[Severity, Mark] = MappingProxyType(
    {Severity.PROOF: Mark.BAD, Severity.SUSPECT: Mark.DOUBT, Severity.HINT: Mark.PLAIN, Severity.NOTE: Mark.MUTED}
)
_BACKINGS: Mapping[Backing, Mark] = MappingProxyType(
    {
        Backing.SUPPORTED: Mark.GOOD,
        Backing.EXCEEDED: Mark.GOOD,
        Backing.NOT_SUPPORTED: Mark.BAD,
        Backing.NOT_MEASURED: Mark.DOUBT,
    }
)
_COVERAGES: Mapping[Coverage | None, Mark] = MappingProxyType(
    {
        Coverage.CHECKED: Mark.GOOD,
        Coverage.NOT_CHECKED: Mark.DOUBT,
        Coverage.NOT_AVAILABLE: Mark.MUTED,
        Coverage.ENGINE_FAILED: Mark.DOUBT,
        Coverage.NOT_ASKED: Mark.MUTED,
        None: Mark.MUTED,
    }
)
_WITHOUT_BLAME = frozenset(
    {Outcome.UNSUPPORTED, Outcome.CANCELLED, Outcome.REFUSED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR}
)
_RUNNING_WORD = "running"
_CUT_SHORT_WORD = "cut short"
_MOST_FAILED = 5


def page_of(inspection: Inspection, *, is_ascii: bool = False) -> Page:
    """The page: the verdict first, then its evidence, and what was not checked."""
    run = inspection.run
    word, mark = _word(run.verdict, inspection.claim, cut_short=run.cut_short)
    return Page(
        title=f"{run.problem}: {word}",
        subject=printable(f"{run.file}{numbered(run.number)}"),
        word=word,
        mark=mark,
        headline=printable(_headline(inspection)),
        claim=_claim(inspection.claim) if inspection.claim is not None else None,
        sections=(
            _proof(inspection),
            Section(
                title="Findings",
                entries=tuple(map(_finding, inspection.findings)),
                note="" if inspection.findings else "none" if run.ended else "none so far",
            ),
            Section(
                title="What was checked",
                entries=tuple(_layer(seen, inspection) for seen in inspection.layers),
            ),
            _cases(inspection),
            _inputs(inspection),
            _speed(inspection, sign="+-" if is_ascii else "±"),
            _not_checked(inspection),
            _policy(inspection),
            _provenance(inspection),
        ),
    )


def _headline(inspection: Inspection) -> str:
    """The headline, after the location of the verdict."""
    run = inspection.run
    location = run.verdict.location if run.verdict is not None else None
    return located(inspection.headline, location, file=run.file)


def _proof(inspection: Inspection) -> Section:
    """Number of proven cases, and each reason why others are not."""
    run = inspection.run
    proven = sum(proof.proven for proof in run.proofs)
    moved_bytes = sum(proof.moved_bytes for proof in run.proofs)
    cases_by_reason: dict[str, list[str]] = {}
    for proof in run.proofs:
        if not proof.proven:
            cases_by_reason.setdefault(proof.reason, []).append(proof.case)
    entries = tuple(
        Entry(
            name=printable(cases[0]),
            state="not proven",
            mark=Mark.DOUBT,
            text=printable(reason),
            details=(f"and {counted(len(cases) - 1, 'more case')}",) if len(cases) > 1 else (),
        )
        for reason, cases in list(cases_by_reason.items())[:_MOST_FAILED]
    )
    note = f"{proven} of {len(run.proofs)} cases proven, {moved_bytes:,} bytes moved by operators of torch"
    constants = dict.fromkeys(proof.constants for proof in run.proofs if proof.constants)
    used = tuple(Entry(name="computed with", text=printable(one)) for one in list(constants)[:_MOST_FAILED])
    return Section(title="Proof", entries=(*entries, *used), note=note if run.proofs else "not tried")


def _word(verdict: Verdict | None, held: ClaimResult | None, *, cut_short: bool) -> tuple[str, Mark]:
    if verdict is None:
        return _CUT_SHORT_WORD if cut_short else _RUNNING_WORD, Mark.MUTED
    word = word_of(verdict).replace("_", " ")
    if verdict.flagged or verdict.outcome in _WITHOUT_BLAME:
        return word, Mark.DOUBT
    if verdict.outcome is not Outcome.PASS:
        return word, Mark.BAD
    return word, Mark.DOUBT if held is not None and held.backing is Backing.NOT_SUPPORTED else Mark.GOOD


def _claim(held: ClaimResult) -> Entry:
    return Entry(name="claim", state=held.backing, mark=_BACKINGS[held.backing], text=printable(held.sentence))


def _unseen(run: RunRecord) -> str:
    """The words for a layer without a report."""
    return "not reached" if run.cancelled else "not reported"


def _layer(seen: LayerSeen, inspection: Inspection) -> Entry:
    required = "required" if seen.required else "not required"
    flagging = {found.finding.check for found in inspection.findings if found.flags}
    flags = any(report.by in flagging for report in seen.reports)
    return Entry(
        name=seen.layer,
        state=seen.coverage or _unseen(inspection.run),
        mark=Mark.DOUBT if flags else _COVERAGES[seen.coverage],
        text=f"{required} by the policy{'; its findings flag the run' if flags else ''}",
        details=tuple(line for report in seen.reports for line in _report(report)),
    )


def _report(report: LayerReport) -> Iterator[str]:
    """The reporter, then the facts."""
    how = "" if report.coverage is Coverage.CHECKED else f": {report.coverage}, {report.why}"
    yield printable(f"by {report.by}{how}")
    for fact in report.facts:
        yield printable(f"{fact.name}: {fact.value}")


def _finding(seen: FindingSeen) -> Entry:
    found = seen.finding
    case = f" (case {found.case})" if found.case else ""
    place = found.location
    column = f", column {place.column}" if place is not None and place.column else ""
    where = (f"line {place.line}{column}",) if place is not None else ()
    return Entry(
        name=printable(found.check),
        state=f"{found.severity} (flags)" if seen.flags else found.severity,
        mark=_SEVERITIES[found.severity],
        text=printable(f"{found.message}{case}"),
        details=where,
        line=place.line if place is not None else None,
        code=printable(seen.code),
    )


def _cases(inspection: Inspection) -> Section:
    run = inspection.run
    tiers = tuple(tier for tier in Tier if any(tally.tier is tier for tally in inspection.tallies))
    count = {(tally.dtype, tally.tier): f"{tally.passed} of {tally.judged}" for tally in inspection.tallies}
    types = tuple(dict.fromkeys(tally.dtype for tally in inspection.tallies))
    rows = tuple((dtype, *(count.get((dtype, tier), "-") for tier in tiers)) for dtype in types)
    failed = [case for case in run.cases if case.outcome is not Outcome.PASS]
    entries = [
        Entry(
            name=printable(case.case),
            state=case.outcome.replace("_", " "),
            mark=Mark.BAD,
            text=printable(located(case.message, case.location, file=run.file)) if case.message else "",
            details=tuple(printable(line) for output in case.outputs for line in diagnosis_lines(output)),
            line=case.location.line if case.location else None,
        )
        for case in failed[:_MOST_FAILED]
    ]
    if len(failed) > _MOST_FAILED:
        entries.append(Entry(name="and", state=f"{len(failed) - _MOST_FAILED} more"))
    return Section(
        title="Cases",
        entries=tuple(entries),
        rows=(("type", *tiers), *rows) if rows else (),
        note=_counted(run),
    )


def _counted(run: RunRecord) -> str:
    """Number of passed cases; for a run that did not finish, the cases that ran and did not pass."""
    count, planned = len(run.cases), run.planned
    failed = f", {count - run.passed} failed" if count > run.passed else ""
    if run.cancelled:
        return f"{run.passed} of the {count} run passed; {planned - count} of {planned} were not run"
    if run.verdict is None:
        return f"{count} of {planned} run{failed}"
    return f"{run.passed} of {planned} passed"


def _inputs(inspection: Inspection) -> Section:
    entries = tuple(Entry(name=printable(axis.name), text=printable(axis.values)) for axis in inspection.axes)
    return Section(title="Inputs of the cases", entries=entries, note="" if entries else "none was run")


def _speed(inspection: Inspection, *, sign: str) -> Section:
    benchmarks = inspection.run.benchmark_report
    title = "Measured speed"
    if not benchmarks.cases:
        return Section(title=title, note=printable(f"not measured: {inspection.untimed}"))
    cells = [bench_cells(case, benchmarks, sign=sign) for case in benchmarks.right]
    rows = (tuple(cells[0]), *(tuple(row.values()) for row in cells)) if cells else ()
    failed = [
        Entry(name=printable(case.case), state="not timed", mark=Mark.BAD, text=printable(failure_of(case)))
        for case in benchmarks.cases
        if case not in benchmarks.right
    ]
    remarks = [Entry(name=printable(one.label), text=printable(one.text)) for one in remarks_on(benchmarks)]
    return Section(title=title, entries=(*failed, *remarks), rows=tuple(tuple(map(printable, row)) for row in rows))


def _not_checked(inspection: Inspection) -> Section:
    entries = tuple(
        Entry(name=printable(one.what), state=one.state, mark=_doubtful(one.state), text=printable(one.why))
        for one in inspection.unchecked
    )
    return Section(title="What was not checked", entries=entries, note="" if entries else "nothing was left out")


def _doubtful(state: str) -> Mark:
    return Mark.DOUBT if state in (Coverage.NOT_CHECKED, Coverage.ENGINE_FAILED) else Mark.MUTED


def _policy(inspection: Inspection) -> Section:
    policy = inspection.run.policy
    weights = WEIGHTS[policy]
    entries = [Entry(name=severity, text=weights.by_severity[severity]) for severity in reversed(Severity)]
    entries.append(Entry(name="broken strict rule", text=weights.broken_rule))
    for effect in Effect:
        layers = [layer for layer in Layer if weights.unchecked[layer] is effect]
        if layers:
            entries.append(Entry(name="unchecked layer", text=f"{', '.join(layers)}: {effect}"))
    return Section(title=f"Policy: {policy}", entries=tuple(entries))


def _provenance(inspection: Inspection) -> Section:
    run = inspection.run
    unended = "cut short" if run.cut_short else "running"
    took = f"{run.finished_s:.2f} s" if run.finished_s is not None else unended
    facts: Sequence[tuple[str, str]] = (
        ("operator", run.problem),
        ("file", run.file),
        ("SHA-256", run.digest),
        ("device", f"{run.device}, {run.device_name}"),
        ("compiled for", run.target or "nothing"),
        ("run", f"#{run.number}" if run.number is not None else "not saved"),
        ("took", took),
        ("versions", ", ".join(f"{name} {version}" for name, version in inspection.versions.items()) or "unknown"),
        *((("inspected at", inspection.inspected_at),) if inspection.inspected_at is not None else ()),
    )
    return Section(
        title="Origin of this page", entries=tuple(Entry(name=name, text=printable(text)) for name, text in facts)
    )
