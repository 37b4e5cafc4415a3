"""A comparison as JSON, CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from engine.model.benchmark import Interval
from kgtui.generation.comparing.comparison import AnswerCost, Cell, Metrics, ModelComparison
from kgtui.generation.comparing.curves import Quantity, Spent, curves_of
from kgtui.generation.comparing.rates import Rates
from kgtui.generation.reports.charts import charts_of, correct_bars, cost_bars
from kgtui.generation.reports.costs import costs_table
from kgtui.generation.reports.page import html_page, markdown_page
from kgtui.generation.reports.tables import Table, cost_text, tables_of, text_of
from sessions.candidates.generation_rows import CostBy, CostRow

JSON_SCHEMA = "kgtui.models/1"

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def as_text(comparison: ModelComparison) -> str:
    """All tables for a terminal."""
    return "\n\n".join(map(text_of, tables_of(comparison))) or "nothing was generated"


def as_markdown(comparison: ModelComparison, *, title: str, costs: Sequence[CostRow] = ()) -> str:
    """One Markdown page; `costs` are those by model."""
    return markdown_page(_tables(comparison, costs), title=title)


def as_json(comparison: ModelComparison) -> str:
    """One JSON document; unknown or unmeasured values are null."""
    document = {
        "schema": JSON_SCHEMA,
        "models": comparison.models,
        "operators": comparison.problems,
        "cells": [_cell(cell) for cell in comparison.cells],
        "metrics": [_metrics(metrics) for metrics in (*comparison.metrics, *comparison.by_group)],
        "curves": list(_curves(comparison)),
        "tests": [msgspec.to_builtins(test) for test in comparison.tests],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def as_csv(comparison: ModelComparison) -> str:
    """A row for each answer."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = ("operator", "model", "place", "run", "outcome", "flagged", "speedup", "input_tokens", "output_tokens",
              "cost_microusd", "no_code")  # fmt: skip
    writer.writerow(header)
    for cell in comparison.cells:
        for row in cell.attempts:
            run, usage = row.run, row.usage
            writer.writerow((
                row.problem, row.model_name, row.place, run.number if run else "",
                run.outcome if run else "", int(run.flagged) if run else "",
                run.speedup if run and run.speedup is not None else "", usage.input_tokens if usage else "",
                usage.output_tokens if usage else "",
                "" if row.cost_microusd is None else row.cost_microusd, row.extraction,
            ))  # fmt: skip
    return out.getvalue().rstrip("\n")


def as_html(comparison: ModelComparison, *, title: str, costs: Sequence[CostRow] = ()) -> str:
    """One HTML file that loads nothing from elsewhere; `costs` are those by model."""
    return html_page(
        title=title,
        summary=_summary(comparison),
        tables=_tables(comparison, costs),
        bars=(
            correct_bars([(metrics.model, metrics.rates.correct) for metrics in comparison.metrics]),
            cost_bars(comparison),
        ),
        charts=tuple(charts_of(comparison)),
    )


def _tables(comparison: ModelComparison, costs: Sequence[CostRow]) -> tuple[Table, ...]:
    return (*tables_of(comparison), *((costs_table(costs, CostBy.MODEL),) if costs else ()))


def _summary(comparison: ModelComparison) -> str:
    """Totals: models, operators, answers and cost."""
    total = AnswerCost.of_all(cell.cost for cell in comparison.cells)
    counts = ((len(comparison.models), "model"), (len(comparison.problems), "operator"), (total.answers, "answer"))
    words = (f"{number} {noun}" if number == 1 else f"{number} {noun}s" for number, noun in counts)
    return f"{', '.join(words)}, cost {cost_text(total)}. Speed-ups are over eager; - was not measured."


def _curves(comparison: ModelComparison) -> Iterator[Plain]:
    """Each curve with its points; without any, `why` is the reason."""
    for quantity, spent in itertools.product(Quantity, Spent):
        for curve in curves_of(comparison, quantity, spent):
            yield {
                "model": curve.model,
                "quantity": quantity.name.lower(),
                "against": spent.value,
                "points": curve.points,
                "why": curve.why,
            }


def _cell(cell: Cell) -> Plain:
    return {
        "model": cell.model,
        "operator": cell.problem,
        "verdict": cell.word,
        "attempts": len(cell.attempts),
        "correct": cell.correct,
        "speedup": cell.speedup,
        "best_run": cell.best.run.number if cell.best is not None and cell.best.run is not None else None,
        "cost_microusd": cell.cost.known_microusd,
        "answers_of_unknown_cost": cell.cost.unpriced,
    }


def _metrics(metrics: Metrics) -> Plain:
    return {
        "model": metrics.model,
        "group": metrics.group,
        "operators": metrics.rates.operators,
        "answers": metrics.rates.attempts,
        **plain_rates(metrics.rates),
        "cost_microusd": metrics.cost.known_microusd,
        "answers_of_unknown_cost": metrics.cost.unpriced,
        "microusd_for_correct": metrics.microusd_for_correct,
        "microusd_for_faster": metrics.microusd_for_faster,
    }


def plain_rates(rates: Rates) -> Plain:
    """The rates as JSON values; unmeasured values are null."""
    return {
        "with_code": rates.with_code,
        "compiled": rates.compiled,
        "correct": _interval(rates.correct),
        "pass_at": {str(k): _interval(value) for k, value in rates.pass_at.items()},
        "fast": {f"{p:g}": _interval(value) for p, value in rates.fast.items()},
        "speedup_correct": _interval(rates.speedup_correct),
        "speedup_all": _interval(rates.speedup_all),
    }


def _interval(value: Interval | None) -> Plain | None:
    return None if value is None else {"value": value.value, "low": value.low, "high": value.high}
