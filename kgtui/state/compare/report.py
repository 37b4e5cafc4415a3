"""A comparison as text: Markdown for a pull request, JSON for a program, plain lines for a terminal.

All three have the content of the screen.  User text can neither control the terminal nor break a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
from rich.cells import cell_len

from engine.reports.printable import printable
from kgtui.state.bench.measurements import Trust
from kgtui.state.compare.alignment import Alignment, Change, unified
from kgtui.state.compare.facts import cost_table, findings_table, matched, resources_table
from kgtui.state.compare.sides import Side
from kgtui.state.compare.speedup_comparison import Versus, device_time
from kgtui.state.compare.summary import SAME, Table, cases_table, mean_words, side_line, times_table
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Row, muted, plain_text

JSON_SCHEMA = "kgtui.compare/1"

_CONTEXT = 3


def titled_tables(sides: Sequence[Side], comparisons: Sequence[Versus], *, glyphs: Glyphs) -> Mapping[str, Table]:
    """Every table of the comparison with its title."""
    return {
        "Cases": cases_table(sides, glyphs=glyphs),
        "Times": times_table(sides, comparisons, glyphs=glyphs),
        "Resources": resources_table(sides, glyphs=glyphs),
        "Findings": findings_table(sides, glyphs=glyphs),
        "Cost": cost_table(sides, glyphs=glyphs),
    }


def as_plain(sides: Sequence[Side], comparisons: Sequence[Versus], alignment: Alignment, *, glyphs: Glyphs) -> str:
    """The sides, the tables, the differences of the source, as plain text."""
    lines = [*_heads(sides, comparisons, glyphs)]
    for title, table in titled_tables(sides, comparisons, glyphs=glyphs).items():
        lines += ["", title, *(f"  {one}".rstrip() for one in _part(table, _aligned(table)))]
        if title == "Times":
            lines += [f"  {printable(words)}" for words in _sentences(comparisons, glyphs)]
    for place, side in enumerate(sides[1:], start=1):
        lines += ["", f"Source {sides[0].name} {glyphs.then} {side.name}"]
        lines += list(map(printable, source_lines(alignment, other=place))) or ["  the same text"]
    return "\n".join(lines) + "\n"


def as_markdown(sides: Sequence[Side], comparisons: Sequence[Versus], alignment: Alignment, *, glyphs: Glyphs) -> str:
    """The comparison as Markdown tables."""
    lines = [f"### {sides[0].run.problem}: {' against '.join(side.name for side in sides)}", ""]
    lines += [f"- {_cell(head)}" for head in _heads(sides, comparisons, glyphs)]
    for title, table in titled_tables(sides, comparisons, glyphs=glyphs).items():
        lines += ["", f"#### {title}", "", *_part(table, _markdown_table(table))]
        if title == "Times":
            lines += ["", *(f"- {_cell(words)}" for words in _sentences(comparisons, glyphs))]
    for place, side in enumerate(sides[1:], start=1):
        lines += ["", f"#### Source {sides[0].name} {glyphs.then} {side.name}", ""]
        lines += _fenced(source_lines(alignment, other=place))
    return "\n".join(lines) + "\n"


def as_json(sides: Sequence[Side], comparisons: Sequence[Versus], alignment: Alignment) -> str:
    """The comparison as one JSON document; unmeasured values are null."""
    document = {
        "schema": JSON_SCHEMA,
        "problem": sides[0].run.problem,
        "reference": sides[0].run.id,
        "sides": [_side(side) for side in sides],
        "versus": [_versus(one, side) for one, side in zip(comparisons, sides[1:], strict=True)],
        "source": [
            {"run": side.run.id, "unified": source_lines(alignment, other=place)}
            for place, side in enumerate(sides[1:], start=1)
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def source_lines(alignment: Alignment, *, other: int) -> list[str]:
    """Differences in the source of one side, with a few lines of context; empty if there are none."""
    rows = [row.cells[0] for row in unified(alignment, other=other).rows]
    near = [place for place, cell in enumerate(rows) if cell.change is not Change.SAME]
    around = {one for place in near for one in range(place - _CONTEXT, place + _CONTEXT + 1)}
    shown = sorted(around & set(range(len(rows))))
    lines: list[str] = []
    for place, before in zip(shown, (None, *shown), strict=False):
        if before is None or place != before + 1:
            lines.append(f"@@ line {rows[place].number} @@")
        lines.append(f"{rows[place].change}{rows[place].text}")
    return lines


def _heads(sides: Sequence[Side], comparisons: Sequence[Versus], glyphs: Glyphs) -> list[str]:
    heads = [side_line(side, versus, glyphs=glyphs) for side, versus in zip(sides, (None, *comparisons), strict=True)]
    return [printable(plain_text((head,))) for head in heads]


def _sentences(comparisons: Sequence[Versus], glyphs: Glyphs) -> list[str]:
    """Times of each side relative to the first, if any was timed."""
    return [
        plain_text((mean_words(one, glyphs=glyphs),))
        for one in comparisons
        if any(other.cases for other in comparisons)
    ]


def _texts(table: Table) -> list[list[str]]:
    """The header and the rows that differ between sides."""
    rows = [row for row in table.rows if not _is_same(row)]
    cells = [[printable(" ".join(cell.text.split())) for cell in row.cells] for row in rows]
    return [[column.label for column in table.columns], *cells] if cells else []


def _part(table: Table, rows: list[str]) -> list[str]:
    """The shown rows of a table, and the number left out because they are equal on all sides."""
    if not table.rows:
        return [printable(table.empty)]
    same = sum(map(_is_same, table.rows))
    if not same:
        return rows
    words = f"{same} {'more ' if rows else ''}{'is' if same == 1 else 'are'} the same on all sides"
    return [*rows, "", words] if rows else [words]


def _is_same(row: Row) -> bool:
    return any(cell == muted(SAME) for cell in row.cells)


def _aligned(table: Table) -> list[str]:
    rows = _texts(table)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    padded = ([text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in padded]


def _markdown_table(table: Table) -> list[str]:
    rows = [f"| {' | '.join(map(_cell, row))} |" for row in _texts(table)]
    return [rows[0], "|---" * len(table.columns) + "|", *rows[1:]] if rows else []


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")


def _fenced(lines: Sequence[str]) -> list[str]:
    """A fenced block that no inner line can close."""
    if not lines:
        return ["the same text"]
    fence = "```"
    while any(fence in one for one in lines):
        fence += "`"
    return [f"{fence}diff", *map(printable, lines), fence]


def _side(side: Side) -> dict[str, object]:
    run, view = side.run, side.view
    return {
        "run": run.id, "file": side.filename or None, "digest": run.digest, "device": run.device,
        "device_name": run.device_name, "target": run.target, "outcome": run.outcome, "flagged": run.flagged,
        "passed": run.passed, "proven": run.proven, "total": run.total, "sentence": run.sentence, "tag": run.tag,
        "note": run.note,
        "environment": dict(side.environment),
        "answer": msgspec.to_builtins(side.answer) if side.answer is not None else None,
        "cases": {result.case: result.outcome for result in view.cases},
        "device_us": {
            timed.case: msgspec.to_builtins(device_time(side, timed.case)) for timed in view.benchmarks
        },
        "kernels": [
            {"kernel": kernel.launch.kernel, "target": kernel.target, "outcome": kernel.outcome,
             "registers": kernel.registers, "spill_bytes": kernel.spill_bytes, "shared_bytes": kernel.shared_bytes}
            for kernels in matched([side]) for kernel in kernels if kernel is not None
        ],
        "findings": [msgspec.to_builtins(finding) for finding in view.findings],
    }  # fmt: skip


def _versus(one: Versus, side: Side) -> dict[str, object]:
    return {
        "run": side.run.id,
        "why_not": one.why or None,
        "mean": msgspec.to_builtins(one.mean.speedup) if one.mean is not None else None,
        "standing": one.standing,
        "credible": one.trust is Trust.CREDIBLE,
        "cases": [
            {
                "case": case.case,
                "how": case.method,
                "baseline": case.baseline or None,
                "why_not": case.why or None,
                "comparison": msgspec.to_builtins(case.comparison) if case.comparison is not None else None,
            }
            for case in one.cases
        ],
    }
