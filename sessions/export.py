"""A run or a session as a document: JSON, Markdown, its events as JSON lines, its measurements as CSV.

One function per format; each takes a store and what to export, and yields the text in pieces, at least one per
run: a session of any length is never in memory as a whole.  They write no file and print nothing.  A change of
the JSON document's meaning is a new number in its schema.
"""

from __future__ import annotations

import base64
import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from engine.model import CaseResult, CompiledKernel, Finding, Policy
from engine.model.benchmark import CANDIDATE, CaseBenchmark, Interval
from engine.model.events import to_plain
from engine.reports.bench import Benchmarks, bench_cells, failure_of, without_wrong_times
from engine.reports.remarks import remarks_on
from engine.reports.run_record import RunRecord, StageRecord
from sessions.queries.reading import Reader
from sessions.rows import RunRow, SessionRow

JSON_SCHEMA = "kgtui.session/1"
LIST_SCHEMA = "kgtui.sessions/1"

_PAGE = 500
_LEAST_FENCE = 3
_FINDING_HEADER = ("severity", "check", "line", "finding")
_CSV_HEADER = (
    "run", "started_at", "problem", "device_name", "outcome", "flagged", "case", "case_outcome", "cache", "side",
    "method", "device_us", "device_us_low", "device_us_high", "call_us", "call_us_low", "call_us_high", "speedup",
    "speedup_low", "speedup_high", "resolution", "standing", "percent_of_floor",
)  # fmt: skip
_KERNEL_HEADER = ("kernel", "target", "outcome", "registers", "spilled bytes", "shared bytes")

Subject: TypeAlias = RunRow | SessionRow
Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def as_json(store: Reader, subject: Subject) -> Iterator[str]:
    """One JSON document: the session with its environment, and the run or all of its runs, oldest first.

    A source that is not UTF-8 is under "source_base64" instead of "source".
    """
    session = _session_of(store, subject)
    head = {"schema": JSON_SCHEMA, "session": {**_plain(session), "environment": dict(store.environment(session.id))}}
    yield _indented(head).removesuffix("\n}") + ',\n  "runs": ['
    is_first = True
    for run in _runs_of(store, subject):
        # A line break inside of a value is escaped, so that each line can be indented.
        document = _indented(_run_document(store, run)).replace("\n", "\n    ")
        yield f"{'' if is_first else ','}\n    {document}"
        is_first = False
    yield f"{'' if is_first else f'{chr(10)}  '}]\n}}\n"


def rows_as_json(kind: Literal["sessions", "runs"], rows: Sequence[Subject]) -> str:
    """A list of sessions or runs as one JSON document; the key that is not `kind` is null."""
    return _indented({"schema": LIST_SCHEMA, "sessions": None, "runs": None, kind: _plain(rows)})


def as_jsonl(store: Reader, subject: Subject) -> Iterator[str]:
    """The events as they were recorded, one JSON object a line, each with the number of its run."""
    for run in _runs_of(store, subject):
        for event in store.events(run.id):
            yield msgspec.json.encode({"run": run.id, **to_plain(event)}).decode() + "\n"


def as_csv(store: Reader, subject: Subject) -> Iterator[str]:
    """Timed cases, a row for each side of each case; missing values are empty.

    The speed-up is beside the baseline that it is against.  A case that was not right has one row, without times, and
    so has each case of a run of which nothing was timed.
    """
    yield _csv_text([_CSV_HEADER])
    for run in _runs_of(store, subject):
        benchmarks = store.benchmarks(run.id)
        for benchmark in benchmarks:
            yield _csv_text(_csv_rows(run, without_wrong_times(benchmark)))
        if not benchmarks:
            yield _csv_text(_untimed_row(run, case) for case in store.cases(run.id))


def as_markdown(store: Reader, subject: Subject) -> Iterator[str]:
    """A page to read: the candidate, the results, and the reasons."""
    if isinstance(subject, RunRow):
        yield "\n".join(_run_page(store, subject, heading="#"))
        return
    environment = store.environment(subject.id)
    lines = [
        f"# Session {subject.id}: {_cell(subject.label)}",
        "",
        f"Started {_moment(subject.started_at)}. Runs: {subject.runs}, of them {subject.passed} passed and "
        f"{subject.flagged} flagged. Operators: {subject.problems}.",
        "",
        *_table(("environment", "value"), [(name, value) for name, value in environment.items()]),
    ]
    yield "\n".join(lines)
    for run in _runs_of(store, subject):
        yield "\n".join(["", *_run_page(store, run, heading="##")])


def _session_of(store: Reader, subject: Subject) -> SessionRow:
    return subject if isinstance(subject, SessionRow) else store.session(subject.session)


def _runs_of(store: Reader, subject: Subject) -> Iterator[RunRow]:
    """The runs to export, oldest first."""
    if isinstance(subject, RunRow):
        yield subject
        return
    after_id = 0
    while page := store.runs_after(after_id, session_id=subject.id, limit=_PAGE):
        yield from page
        after_id = page[-1].id


def _indented(document: Plain) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _csv_text(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _run_document(store: Reader, run: RunRow) -> Plain:
    record = store.run_record(run.id)
    source = store.source(run.digest)
    try:
        text = {"source": source.decode()}
    except UnicodeDecodeError:
        text = {"source_base64": base64.b64encode(source).decode()}
    return {
        **_plain(run),
        **text,
        "draw_seed": None if record.draw_seed is None else str(record.draw_seed),
        "seed_given": record.seed_given,
        "stages": [_stage(stage) for stage in record.finished_stages],
        "cases": _plain(record.cases),
        "findings": _plain(record.findings),
        "kernels": _plain(record.kernels),
        "benchmarks": _plain(record.benchmark_report.cases),
        "summaries": _plain(record.summaries),
    }


def _stage(stage: StageRecord) -> Plain:
    """A stage that has ended; `at_s` is when it did."""
    return {
        "at_s": stage.finished_s,
        "stage": stage.stage,
        "outcome": stage.outcome,
        "elapsed_s": stage.elapsed_s,
        "message": stage.message,
        "location": _plain(stage.location),
    }


def _plain(record: object) -> Any:  # Any: JSON values of every shape
    return msgspec.to_builtins(record, enc_hook=_known)


def _known(value: Path | Mapping[str, int]) -> str | dict[str, int]:
    """Types that msgspec cannot encode: a path, and a record's read-only mapping."""
    return dict(value) if isinstance(value, Mapping) else _shown(value)


def _shown(path: Path) -> str:
    """A path as text; bytes of its name that are no text become a mark."""
    return os.fsencode(path).decode(errors="replace")


def _moment(moment: datetime) -> str:
    """A time for readers, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _run_page(store: Reader, run: RunRow, *, heading: str) -> list[str]:
    record = store.run_record(run.id)
    facts = [
        ("verdict", run.sentence),
        ("state", f"{run.state}, flagged" if run.flagged else run.state),
        ("cases passed", f"{run.passed} of {run.total}"),
        ("file", None if run.path is None else _shown(run.path)),
        ("source", f"SHA-256 {run.digest}"),
        ("device", f"{run.device}: {run.device_name}" if run.device_name else run.device),
        ("compiled for", run.target),
        ("policy", run.policy if run.policy is not Policy.DEFAULT else None),
        ("started", _moment(run.started_at)),
        ("took", f"{run.elapsed_s:.2f} s"),
        ("note", run.note),
        ("tag", run.tag),
    ]
    return [
        f"{heading} Run #{run.id}: {run.problem}: {run.outcome or run.state}",
        "",
        *_table(("run", f"#{run.id}"), [(name, str(value)) for name, value in facts if value is not None]),
        *_evidence(record, heading=f"{heading}#"),
        *_benchmark_tables(record.benchmark_report, heading=f"{heading}#"),
        f"{heading}# Source",
        "",
        *_fenced(store.source(run.digest).decode(errors="replace")),
    ]


def _evidence(record: RunRecord, *, heading: str) -> Iterator[str]:
    """The tables of a run; one that would be empty is left out."""
    if record.cases:
        yield from (f"{heading} Cases", "")
        yield from _table(("case", "outcome", "what happened"), [_case_cells(case) for case in record.cases])
    if record.findings:
        yield from (f"{heading} Findings", "")
        yield from _table(_FINDING_HEADER, [_finding_cells(finding) for finding in record.findings])
    if record.kernels:
        yield from (f"{heading} Kernels", "")
        yield from _table(_KERNEL_HEADER, [_kernel_cells(kernel) for kernel in record.kernels])


def _case_cells(case: CaseResult) -> tuple[str, ...]:
    parts = [case.message] if case.message else []
    for output in case.outputs:
        if output.mismatched:
            parts.append(f"{output.name}: {output.mismatched:,} of {output.total:,} elements out of tolerance")
        if output.worst:
            index = ", ".join(map(str, output.worst.index))
            parts.append(f"worst at [{index}]: expected {output.worst.expected}, got {output.worst.got}")
    return (case.case, case.outcome, "; ".join(parts))


def _finding_cells(finding: Finding) -> tuple[str, ...]:
    line = "" if finding.location is None else str(finding.location.line)
    return (finding.severity, finding.check, line, finding.message)


def _kernel_cells(kernel: CompiledKernel) -> tuple[str, ...]:
    resources = (kernel.registers, kernel.spill_bytes, kernel.shared_bytes)
    return (
        kernel.launch.kernel,
        kernel.target,
        kernel.outcome,
        *("unknown" if value is None else str(value) for value in resources),
    )


def _benchmark_tables(benchmarks: Benchmarks, *, heading: str) -> Iterator[str]:
    """Timed cases, those that could not be timed, and the trust in them."""
    if not benchmarks.cases:
        return
    yield from (f"{heading} Benchmark", "")
    cells = [bench_cells(case, benchmarks) for case in benchmarks.right]
    if cells:
        yield from _table(tuple(cells[0]), [tuple(row.values()) for row in cells])
    failed = [case for case in benchmarks.cases if case not in benchmarks.right]
    yield from _table(("case", "not timed"), [(case.case, failure_of(case)) for case in failed])
    yield from _table(("about", "remark"), [(remark.label, remark.text) for remark in remarks_on(benchmarks)])


def _run_cells(run: RunRow) -> tuple[object, ...]:
    started_at = run.started_at.isoformat()
    return (run.id, started_at, run.problem, run.device_name, run.outcome, int(run.flagged))


def _untimed_row(run: RunRow, case: CaseResult) -> tuple[object, ...]:
    cells = (*_run_cells(run), case.case, case.outcome, None, CANDIDATE)
    return (*cells, *(None for _ in _CSV_HEADER[len(cells) :]))


def _csv_rows(run: RunRow, benchmark: CaseBenchmark) -> Iterator[tuple[object, ...]]:
    place = (*_run_cells(run), benchmark.case, benchmark.outcome, benchmark.cache)
    comparison_by_baseline = {comparison.baseline: comparison for comparison in benchmark.comparisons}
    percent = benchmark.floor.percent if benchmark.floor else None
    for side in (benchmark.timing, *benchmark.baselines):
        name = side.side if side else CANDIDATE
        comparison = comparison_by_baseline.get(name)
        yield (
            *place,
            name,
            side.method if side else None,
            *_ends(side.device_us if side else None),
            *_ends(side.call_us if side else None),
            *_ends(comparison.speedup if comparison else None),
            comparison.resolution if comparison else None,
            comparison.standing if comparison else None,
            percent if name == CANDIDATE else None,
        )


def _ends(interval: Interval | None) -> tuple[float | None, ...]:
    return (interval.value, interval.low, interval.high) if interval else (None, None, None)


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    for cells in (header, ("---",) * len(header), *rows):
        yield f"| {' | '.join(map(_cell, cells))} |"
    yield ""


def _cell(text: str) -> str:
    """Text of any kind in one cell: a bar or a line break would end it, and a tag would be swallowed."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _fenced(source: str) -> list[str]:
    """The source as a code block whose fence is longer than any run of backticks in it."""
    fence = "`" * _LEAST_FENCE
    while fence in source:
        fence += "`"
    return [f"{fence}python", source.removesuffix("\n"), fence, ""]
