"""The tables of every report format: matrix, metrics, paired tests; cells are text."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.benchmark import Interval
from kgtui.generation.budget import usd_text
from kgtui.generation.comparing.comparison import AnswerCost, Cell, Metrics, ModelComparison

NOT_MEASURED = "-"
_NUMBER = re.compile(r"(?:> )?[-+]?\$?[\d,]+(?:\.\d+)?[%x]?(?: \[.*\])?")


class CellTone(enum.StrEnum):
    """Meaning of a cell; the names of style classes."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A title, a header and rows of text; `tones` maps the text of cells to their meaning."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    tones: Mapping[str, CellTone] = field(default_factory=dict)

    def tone(self, cell: str) -> str:
        """ "good", "warn" or "bad"; "" for most cells."""
        return self.tones.get(cell, "")

    def is_number(self, place: int) -> bool:
        """Whether a column has only numbers, which are right-aligned."""
        cells = [row[place] for row in self.rows if row[place] not in (NOT_MEASURED, "unknown")]
        return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def tables_of(comparison: ModelComparison) -> tuple[Table, ...]:
    """Every table that has rows."""
    tables = (matrix(comparison), metrics_table(comparison), fast_table(comparison), tests_table(comparison))
    return tuple(table for table in tables if table.rows)


def matrix(comparison: ModelComparison) -> Table:
    """Operators by models."""
    rows = []
    for problem in comparison.problems:
        cells = [comparison.cell(model, problem) for model in comparison.models]
        rows.append((problem, *(cell_text(cell) for cell in cells)))
    return Table(
        title="Models and operators",
        header=("operator", *comparison.models),
        rows=tuple(rows),
        note="verdict, proven cases, best speed-up over eager, passed/attempts, cost; run number of the best",
        tones={cell_text(cell): _tone(cell) for cell in comparison.cells if cell.attempts},
    )


def metrics_table(comparison: ModelComparison) -> Table:
    """One row for each model and group; a value measured for none of them has no column."""
    shown = (*comparison.metrics, *comparison.partial_groups)
    header = (
        "model", "operators", "group", "answers", "with code", "compiled", "correct", "pass@1", "pass@5", "pass@10",
        "speed-up (correct)", "speed-up (all)", "cost", "per correct", "per faster",
    )  # fmt: skip
    rows = tuple(map(_metrics_row, shown))
    measured = [place for place in range(len(header)) if any(row[place] != NOT_MEASURED for row in rows)]
    return Table(
        title="Metrics",
        header=tuple(header[place] for place in measured),
        rows=tuple(tuple(row[place] for place in measured) for row in rows),
        note="95 % bootstrap intervals over operators; a failure counts as the baseline in speed-up (all)",
    )


def fast_table(comparison: ModelComparison) -> Table:
    """fast_p of each model; no rows if nothing was timed."""
    thresholds = sorted({p for metrics in comparison.metrics for p in metrics.rates.fast})
    rows = tuple(
        (metrics.model, *(interval_text(metrics.rates.fast.get(p), percent=True) for p in thresholds))
        for metrics in comparison.metrics
    )
    return Table(
        title="fast_p",
        header=("model", *(f"p = {p:g}" for p in thresholds)),
        rows=rows if len(thresholds) > 1 else (),
        note="share of answers that are correct and more than p times as fast as eager; p = 0 is correctness",
    )


def tests_table(comparison: ModelComparison) -> Table:
    """The paired tests."""
    return Table(
        title="Differences between models",
        header=("models", "quantity", "operators", "mean difference", "p (Holm)"),
        rows=tuple(
            (
                f"{test.first} - {test.second}",
                test.quantity,
                str(test.operators),
                f"{test.difference:+.3f}",
                "no difference" if test.p is None else f"{test.p:.3f}",
            )
            for test in comparison.tests
        ),
        note="sign-flip permutation tests over common operators, corrected for their number",
    )


def cell_text(cell: Cell | None) -> str:
    """Short text of the result of one model on one operator."""
    if cell is None or not (cell.attempts or cell.cost.answers):
        return NOT_MEASURED
    speedup = f" {cell.speedup:.2f}x" if cell.speedup is not None else ""
    run = cell.best.run if cell.best is not None else None
    proof = f" proven {run.proven}/{run.passed}" if run is not None and run.proven is not None else ""
    number = f" #{cell.best.run.number}" if cell.best is not None and cell.best.run is not None else ""
    return f"{cell.word}{proof}{speedup} {cell.correct}/{len(cell.attempts)} {cost_text(cell.cost)}{number}"


def _tone(cell: Cell) -> CellTone:
    if cell.best is not None:
        return CellTone.GOOD
    return CellTone.WARN if cell.word == "flagged" else CellTone.BAD


def cost_text(cost: AnswerCost) -> str:
    """Money, with a sign if part of it is unknown."""
    if cost.unpriced and cost.microusd:
        return f"> {usd_text(cost.microusd)}"
    return usd_text(cost.known_microusd)


def interval_text(value: Interval | None, *, percent: bool = False) -> str:
    """A value in percent or as a factor, with its interval; without one if all resamples give the same value.
    So a single operator never gives an interval of zero width.
    """
    if value is None:
        return NOT_MEASURED
    has_interval = value.low < value.high
    if percent:
        return f"{value.value:.0%}" + (f" [{value.low:.0%}, {value.high:.0%}]" if has_interval else "")
    return f"{value.value:.2f}x" + (f" [{value.low:.2f}, {value.high:.2f}]" if has_interval else "")


def text_of(table: Table) -> str:
    """A table for a terminal, its columns as wide as their content."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
             for row in (table.header, *table.rows)]  # fmt: skip
    return "\n".join((table.title, *(f"  {line}" for line in lines), *((f"  ({table.note})",) if table.note else ())))


def markdown_of(table: Table) -> str:
    """A table in Markdown."""
    rows: Sequence[Sequence[str]] = (table.header, ("---",) * len(table.header), *table.rows)
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join((f"## {table.title}", "", *lines, "", *((f"{table.note}.",) if table.note else ())))


def _metrics_row(metrics: Metrics) -> tuple[str, ...]:
    return (
        metrics.model,
        str(metrics.rates.operators),
        metrics.group,
        str(metrics.rates.attempts),
        _percent(metrics.rates.with_code),
        _percent(metrics.rates.compiled),
        interval_text(metrics.rates.correct, percent=True),
        *(interval_text(metrics.rates.pass_at.get(k), percent=True) for k in (1, 5, 10)),
        interval_text(metrics.rates.speedup_correct),
        interval_text(metrics.rates.speedup_all),
        cost_text(metrics.cost),
        per_correct_text(metrics),
        per_faster_text(metrics),
    )


def _percent(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.0%}"


def per_correct_text(metrics: Metrics) -> str:
    """Cost of a correct kernel."""
    return _each(metrics.microusd_for_correct, metrics.cost)


def per_faster_text(metrics: Metrics) -> str:
    """Cost of a kernel faster than the baseline; a dash if nothing was timed."""
    return NOT_MEASURED if metrics.rates.speedup_all is None else _each(metrics.microusd_for_faster, metrics.cost)


def _each(microusd: float | None, cost: AnswerCost) -> str:
    if microusd is not None:
        return usd_text(round(microusd))
    return "unknown" if cost.unpriced else NOT_MEASURED
