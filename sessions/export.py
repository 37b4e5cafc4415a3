"""A run or a session as a document: JSON, Markdown, or its events as JSON lines.

One function per format; each takes a store and what to export, and returns text.  They write no
file and print nothing.  A change of the JSON document's meaning is a new number in its schema.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from engine.events import to_plain
from engine.model import CaseResult, CompiledKernel, Finding
from sessions.reading import Reader
from sessions.rows import RunDetails, RunFilter, RunRow, SessionRow

JSON_SCHEMA = "kgtui.session/1"

_PAGE = 500
_LEAST_FENCE = 3
_FINDING_HEADER = ("severity", "check", "line", "finding")
_KERNEL_HEADER = ("kernel", "target", "outcome", "registers", "spilled bytes", "shared bytes")

Subject: TypeAlias = RunRow | SessionRow
Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def as_json(store: Reader, subject: Subject) -> str:
    """One JSON document: the session with its environment, and the run or all of its runs, oldest first.

    A source that is not UTF-8 stands under "source_base64" instead of "source".
    """
    session = _session_of(store, subject)
    document = {
        "schema": JSON_SCHEMA,
        "session": {**_plain(session), "environment": dict(store.environment(session.id))},
        "runs": [_run_document(store, run) for run in _runs_of(store, subject)],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def as_jsonl(store: Reader, subject: Subject) -> Iterator[str]:
    """The events as they were recorded, one JSON object a line, each with the number of its run."""
    for run in _runs_of(store, subject):
        for event in store.events(run.id):
            yield msgspec.json.encode({"run": run.id, **to_plain(event)}).decode() + "\n"


def as_markdown(store: Reader, subject: Subject) -> str:
    """A page to read: what was judged, what came of it, and why."""
    if isinstance(subject, RunRow):
        return "\n".join(_run_page(store, subject, heading="#"))
    environment = store.environment(subject.id)
    lines = [
        f"# Session {subject.id}: {_cell(subject.label)}",
        "",
        f"Started {subject.started_at.isoformat()}. {subject.runs} runs on {subject.problems} problems, "
        f"{subject.passed} passed, {subject.flagged} flagged.",
        "",
        *_table(("environment", "value"), [(name, value) for name, value in environment.items()]),
    ]
    for run in _runs_of(store, subject):
        lines += _run_page(store, run, heading="##")
    return "\n".join(lines)


def _session_of(store: Reader, subject: Subject) -> SessionRow:
    return subject if isinstance(subject, SessionRow) else store.session(subject.session)


def _runs_of(store: Reader, subject: Subject) -> list[RunRow]:
    """The runs to export, oldest first."""
    if isinstance(subject, RunRow):
        return [subject]
    runs: list[RunRow] = []
    while page := store.runs(RunFilter(session=subject.id), before_id=runs[-1].id if runs else None, limit=_PAGE):
        runs += page
    return runs[::-1]


def _run_document(store: Reader, run: RunRow) -> Plain:
    details = store.details(run.id)
    source = store.source(run.digest)
    try:
        text = {"source": source.decode()}
    except UnicodeDecodeError:
        text = {"source_base64": base64.b64encode(source).decode()}
    return {
        **_plain(run),
        **text,
        "stages": _plain(details.stages),
        "cases": _plain(details.cases),
        "findings": _plain(details.findings),
        "kernels": _plain(details.kernels),
    }


def _plain(record: object) -> Any:  # Any: JSON values of every shape
    return msgspec.to_builtins(record, enc_hook=_shown)


def _shown(path: Path) -> str:
    """A path as text; bytes of its name that are no text become a mark."""
    return os.fsencode(path).decode(errors="replace")


def _run_page(store: Reader, run: RunRow, *, heading: str) -> list[str]:
    details = store.details(run.id)
    facts = [
        ("verdict", run.sentence),
        ("state", f"{run.state}, flagged" if run.flagged else run.state),
        ("cases passed", f"{run.passed} of {run.total}"),
        ("file", None if run.path is None else _shown(run.path)),
        ("source", f"SHA-256 {run.digest}"),
        ("device", f"{run.device}: {run.device_name}" if run.device_name else run.device),
        ("compiled for", run.target),
        ("started", run.started_at.isoformat()),
        ("took", f"{run.elapsed_s:.2f} s"),
        ("note", run.note),
        ("tag", run.tag),
    ]
    return [
        f"{heading} Run #{run.id}: {run.problem}: {run.outcome or run.state}",
        "",
        *_table(("run", f"#{run.id}"), [(name, str(value)) for name, value in facts if value is not None]),
        *_evidence(details, heading=f"{heading}#"),
        f"{heading}# Source",
        "",
        *_fenced(store.source(run.digest).decode(errors="replace")),
    ]


def _evidence(details: RunDetails, *, heading: str) -> Iterator[str]:
    """The tables of a run; one that would be empty is left out."""
    if details.cases:
        yield from (f"{heading} Cases", "")
        yield from _table(("case", "outcome", "what happened"), [_case_cells(case) for case in details.cases])
    if details.findings:
        yield from (f"{heading} Findings", "")
        yield from _table(_FINDING_HEADER, [_finding_cells(finding) for finding in details.findings])
    if details.kernels:
        yield from (f"{heading} Kernels", "")
        yield from _table(_KERNEL_HEADER, [_kernel_cells(kernel) for kernel in details.kernels])


def _case_cells(case: CaseResult) -> tuple[str, ...]:
    parts = [case.message] if case.message else []
    for output in case.outputs:
        if output.mismatched:
            parts.append(f"{output.name}: {output.mismatched} of {output.total} elements out of tolerance")
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
        *("not told" if value is None else str(value) for value in resources),
    )


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
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
