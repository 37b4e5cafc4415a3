"""Costs of answers, grouped: as text and JSON.  Unknown costs are shown as "unknown", never as 0."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kgtui.generation.budget import usd_text
from kgtui.generation.reports.tables import NOT_MEASURED, Table, text_of
from sessions.candidates.generation_rows import CostBy, CostRow

JSON_SCHEMA = "kgtui.cost/1"
_HEADER = (
    "answers", "input", "cached", "output", "reasoning", "cost", "wall", "engine", "device", "correct", "per correct",
    "faster", "per faster",
)  # fmt: skip


def costs_table(rows: Sequence[CostRow], by: CostBy) -> Table:
    """A row for each group."""
    return Table(
        title=f"Cost by {by}",
        header=(by.value, *_HEADER),
        rows=tuple(_row(row) for row in rows),
        note=("days are in UTC; " if by is CostBy.DAY else "")
        + "tokens; wall, engine and device time in seconds; - was not timed; "
        "> marks sums that leave out answers of unknown cost or tokens",
    )


def costs_text(rows: Sequence[CostRow], by: CostBy) -> str:
    """The table for a terminal."""
    return (
        text_of(costs_table(rows, by))
        if rows
        else "nothing was generated; `kgtui generate OP --model PROVIDER:MODEL` generates kernels"
    )


def costs_json(rows: Sequence[CostRow], by: CostBy) -> str:
    """One JSON document."""
    document = {"schema": JSON_SCHEMA, "by": by, "rows": [msgspec.to_builtins(row) for row in rows]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def money(row: CostRow) -> str:
    """The sum, with a sign if it is incomplete."""
    if row.unpriced and row.cost_microusd:
        return f"> {usd_text(row.cost_microusd)}"
    return usd_text(None if row.unpriced else row.cost_microusd)


def _tokens(row: CostRow, count: int) -> str:
    """A sum of tokens, with a sign if it is incomplete."""
    if row.uncounted == row.answers:
        return "unknown"
    return f"> {count:,}" if row.uncounted else f"{count:,}"


def _row(row: CostRow) -> tuple[str, ...]:
    counts = row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens
    return (
        row.group,
        str(row.answers),
        *(_tokens(row, count) for count in counts),
        money(row),
        f"{row.wall_s:.1f}",
        f"{row.engine_s:.1f}",
        NOT_MEASURED if row.device_s is None else f"{row.device_s:.1f}",
        str(row.correct),
        _each(row, row.correct),
        NOT_MEASURED if row.faster is None else str(row.faster),
        NOT_MEASURED if row.faster is None else _each(row, row.faster),
    )


def _each(row: CostRow, kernels: int) -> str:
    if row.unpriced or row.cost_microusd is None:
        return "unknown"
    return usd_text(round(row.cost_microusd / kernels)) if kernels else NOT_MEASURED
