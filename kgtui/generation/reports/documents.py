"""A comparison as JSON, CSV, Markdown and one self-contained HTML file with plots."""

from __future__ import annotations

import csv
import io
from typing import Any, TypeAlias

import msgspec

from engine.model.benchmark import Interval
from kgtui.generation.comparing.comparison import Cell, Comparison, Metrics
from kgtui.generation.reports.tables import Table, cost_text, markdown_of, tables_of, text_of

JSON_SCHEMA = "kgtui.models/1"
_TEMPLATE = "report.html.j2"

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def as_text(comparison: Comparison) -> str:
    """All tables for a terminal."""
    return "\n\n".join(map(text_of, tables_of(comparison))) or "nothing was generated"


def as_markdown(comparison: Comparison, *, title: str) -> str:
    """One Markdown page."""
    return "\n".join((f"# {title}", "", *("\n" + markdown_of(table) for table in tables_of(comparison)), ""))


def as_json(comparison: Comparison) -> str:
    """One JSON document; what is unknown or was not measured is null."""
    document = {
        "schema": JSON_SCHEMA,
        "models": comparison.models,
        "operators": comparison.problems,
        "cells": [_cell(cell) for cell in comparison.cells],
        "metrics": [_metrics(metrics) for metrics in (*comparison.metrics, *comparison.by_group)],
        "tests": [msgspec.to_builtins(test) for test in comparison.tests],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def as_csv(comparison: Comparison) -> str:
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


def as_html(comparison: Comparison, *, title: str) -> str:
    """One HTML file that loads nothing from elsewhere; every value in it is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kgtui.generation", "reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables: tuple[Table, ...] = tables_of(comparison)
    return environment.get_template(_TEMPLATE).render(
        title=title,
        tables=tables,
        metrics=comparison.metrics,
        costs=[(metrics.model, metrics.cost.microusd, cost_text(metrics.cost)) for metrics in comparison.metrics],
        dearest=max((metrics.cost.microusd for metrics in comparison.metrics), default=0) or 1,
        curves=[
            (metrics.model, sorted(metrics.fast.items())) for metrics in comparison.metrics if len(metrics.fast) > 1
        ],
        colours=("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568"),
    )


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
        "operators": metrics.operators,
        "answers": metrics.attempts,
        "with_code": metrics.with_code,
        "compiled": metrics.compiled,
        "correct": _interval(metrics.correct),
        "pass_at": {str(k): _interval(value) for k, value in metrics.pass_at.items()},
        "fast": {f"{p:g}": _interval(value) for p, value in metrics.fast.items()},
        "speedup_correct": _interval(metrics.speedup_correct),
        "speedup_all": _interval(metrics.speedup_all),
        "cost_microusd": metrics.cost.known_microusd,
        "answers_of_unknown_cost": metrics.cost.unpriced,
        "microusd_for_correct": metrics.microusd_for_correct,
        "microusd_for_faster": metrics.microusd_for_faster,
    }


def _interval(value: Interval | None) -> Plain | None:
    return None if value is None else {"value": value.value, "low": value.low, "high": value.high}
