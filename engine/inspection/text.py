"""An inspection as text: a page for terminals, Markdown, and one JSON document.

One function per format.  They print nothing, colour nothing and decide nothing.

The JSON document is "kgtui.inspect/1"; `kgtui schema inspect` describes its keys.  Names and meanings stay as they are:
an addition is a new name, a change of meaning a new number.  What was not measured is null.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from engine.inspection.evidence import Inspection
from engine.inspection.page import Entry, Mark, Page, Section, page_of
from engine.model import Outcome
from engine.reports.table import aligned
from engine.reports.text import Plain, plain_proofs, plain_summary

JSON_SCHEMA = "kgtui.inspect/1"
WIDTH = 80

_INDENT = "  "
_LEAST_TEXT, _MOST_NAME = 36, 24
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a line and its meaning."""

    text: str
    mark: Mark = Mark.PLAIN
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class PageLine:
    """A line of the page for terminals; `line` is its line of the source."""

    parts: tuple[Part, ...] = ()
    line: int | None = None

    def __str__(self) -> str:
        return "".join(part.text for part in self.parts).rstrip()


def page_lines(page: Page, *, width: int) -> Iterator[PageLine]:
    """The page line by line, none longer than `width` unless a word is."""
    yield from (_line(Part(text=text, mark=page.mark, strong=True)) for text in textwrap.wrap(page.title, width))
    yield from (_line(Part(text=text, mark=Mark.MUTED)) for text in textwrap.wrap(page.subject, width))
    yield PageLine()
    yield from (_line(Part(text=text, strong=True)) for text in textwrap.wrap(page.headline, width))
    if page.claim is not None:
        yield from (_line(Part(text=text, mark=page.claim.mark)) for text in textwrap.wrap(page.claim.text, width))
    for section in page.sections:
        yield PageLine()
        yield from _section_lines(section, width=width)


def as_markdown(inspection: Inspection) -> str:
    """The page for a pull request or a report."""
    page = page_of(inspection)
    lines = [f"# {_escaped(page.title)}", "", f"`{_code(page.subject)}`", "", f"**{_escaped(page.headline)}**", ""]
    if page.claim is not None:
        lines += [_escaped(page.claim.text), ""]
    for section in page.sections:
        lines += [f"## {_escaped(section.title)}", "", *([_escaped(section.note), ""] if section.note else [])]
        for number, row in enumerate(section.rows):
            lines.append(f"| {' | '.join(map(_escaped, row))} |")
            if number == 0:
                lines.append("|---" * len(row) + "|")
        lines += [""] if section.rows else []
        lines += [text for entry in section.entries for text in _markdown_entry(entry)]
        lines += [""] if section.entries else []
    return "\n".join(lines).rstrip("\n") + "\n"


def as_json(inspection: Inspection) -> str:
    """The document "kgtui.inspect/1"."""
    run, held = inspection.run, inspection.claim
    document: Plain = {
        "schema": JSON_SCHEMA,
        "run": run.number,
        "problem": run.problem,
        "file": run.file,
        "digest": run.digest,
        "device": {"platform": run.device, "name": run.device_name},
        "target": run.target,
        "policy": run.policy,
        "inspected_at": inspection.inspected_at,
        "versions": dict(inspection.versions),
        "elapsed_s": run.finished_s,
        "verdict": msgspec.to_builtins(run.verdict),
        "headline": inspection.headline,
        "claim": None
        if held is None
        else {
            "speedup": held.claim.speedup,
            "baseline": held.claim.baseline,
            "backing": held.backing,
            "sentence": held.sentence,
            "measured": msgspec.to_builtins(held.measured),
            "resolution": held.resolution,
            "shortfall": held.shortfall,
        },
        "proof": plain_proofs(run),
        "layers": msgspec.to_builtins(inspection.layers),
        "findings": [
            {**msgspec.to_builtins(seen.finding), "code": seen.code, "flags": seen.flags}
            for seen in inspection.findings
        ],
        "cases": _plain_cases(inspection),
        "speed": {
            "untimed": inspection.untimed,
            "doubt": run.benchmark_report.doubt if run.benchmark_report.cases else "",
            "benchmarks": msgspec.to_builtins(run.benchmark_report.cases),
            "summaries": [plain_summary(summary) for summary in run.benchmark_report.summaries],
        },
        "not_checked": msgspec.to_builtins(inspection.unchecked),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _plain_cases(inspection: Inspection) -> Plain:
    run = inspection.run
    failed = [case for case in run.cases if case.outcome is not Outcome.PASS]
    return {
        "planned": run.planned,
        "judged": len(run.cases),
        "passed": run.passed,
        "by_type": msgspec.to_builtins(inspection.tallies),
        "axes": msgspec.to_builtins(inspection.axes),
        "failed": [{"case": case.case, "outcome": case.outcome, "message": case.message} for case in failed],
    }


def _section_lines(section: Section, *, width: int) -> Iterator[PageLine]:
    note = f": {section.note}" if section.note else ""
    head, *more = textwrap.wrap(f"{section.title}{note}", width, subsequent_indent=_INDENT)
    yield _line(Part(text=section.title, strong=True), Part(text=head.removeprefix(section.title)))
    yield from (_line(Part(text=text)) for text in more)
    yield from _table_lines(section.rows, width=width)
    names = min(_MOST_NAME, max((len(entry.name) for entry in section.entries), default=0))
    states = max((len(entry.state) for entry in section.entries), default=0)
    for entry in section.entries:
        yield from _entry_lines(entry, names=names, states=states, width=width)


def _table_lines(rows: Sequence[tuple[str, ...]], *, width: int) -> Iterator[PageLine]:
    """Columns or, if they do not fit, each row as its first cell with the others and their names below."""
    if not rows:
        return
    lines = aligned(rows)
    if max(map(len, lines)) + len(_INDENT) <= width:
        yield _line(Part(text=f"{_INDENT}{lines[0]}", mark=Mark.MUTED))
        yield from (_line(Part(text=f"{_INDENT}{text}")) for text in lines[1:])
        return
    header, *others = rows
    for first, *cells in others:
        yield _line(Part(text=f"{_INDENT}{first}"))
        row_text = "; ".join(f"{name} {cell}" for name, cell in zip(header[1:], cells, strict=True))
        yield from (_line(Part(text=text)) for text in _wrapped(row_text, width=width, indent=2 * _INDENT))


def _entry_lines(entry: Entry, *, names: int, states: int, width: int) -> Iterator[PageLine]:
    """The name, the state, and the text beside them, or below them if there is no space."""
    if len(entry.name) > names:
        yield PageLine(parts=(Part(text=f"{_INDENT}{entry.name}"),), line=entry.line)
    name = Part(text=f"{_INDENT}{entry.name if len(entry.name) <= names else '':<{names}}{_INDENT}")
    state = Part(text=f"{entry.state:<{states}}{_INDENT}" if states else "", mark=entry.mark)
    taken = len(name.text) + len(state.text)
    beside = width - taken >= _LEAST_TEXT
    indent = " " * taken if beside else 2 * _INDENT
    wrapped = _wrapped(entry.text, width=width, indent=indent)
    first = wrapped.pop(0)[len(indent) :] if beside and wrapped else ""
    yield PageLine(parts=(name, state, Part(text=first)), line=entry.line)
    yield from (PageLine(parts=(Part(text=text),), line=entry.line) for text in wrapped)
    for detail in entry.details:
        for text in _wrapped(detail, width=width, indent=indent, hang=_INDENT):
            yield PageLine(parts=(Part(text=text, mark=Mark.MUTED),), line=entry.line)
    if entry.code:
        shown = textwrap.shorten(entry.code, width - len(indent) - 2, placeholder=" ...")
        yield PageLine(parts=(Part(text=f"{indent}> {shown}"),), line=entry.line)


def _wrapped(text: str, *, width: int, indent: str, hang: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent + hang)


def _line(*parts: Part) -> PageLine:
    return PageLine(parts=parts)


def _markdown_entry(entry: Entry) -> Iterator[str]:
    state = f" ({_escaped(entry.state)})" if entry.state else ""
    yield f"- **{_escaped(entry.name)}**{state}{': ' if entry.text else ''}{_escaped(entry.text)}"
    yield from (f"  - {_escaped(detail)}" for detail in entry.details)
    if entry.code:
        yield f"  - `{_code(entry.code)}`"


def _escaped(text: str) -> str:
    """Any text on one line, escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Text between back quotes, with back quotes in it replaced."""
    return " ".join(text.split()).replace("`", "'")
