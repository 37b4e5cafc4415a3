"""Views of the Models screen beside the candidates: matrix, metrics, cost and prices, as columns and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgtui.generation.reports.tables import NOT_MEASURED, cost_text, interval_text, per_correct_text, per_faster_text
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from kgtui.generation.comparing.comparison import Cell, Metrics, ModelComparison
    from kgtui.generation.prices import PriceList
    from kgtui.state.format.glyphs import Glyphs

_BAR_CELLS = 20
_TONES = {"passed": Tone.GOOD, "flagged": Tone.WARN, "not run": Tone.MUTED}


@dataclass(frozen=True, kw_only=True)
class View:
    """A table with a line above it; with `has_cells` each cell can be selected, else each row."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    about: tuple[Line, ...]
    has_cells: bool = False


def matrix_view(comparison: ModelComparison) -> View:
    """Operators by models; a cell is one model on one operator."""
    width = max((len(model) + 2 for model in comparison.models), default=0)
    columns = (
        Column(label="operator", width=20, least=14, most=34),
        *(Column(label=model, width=max(width, 28), least=18) for model in comparison.models),
    )
    rows = tuple(
        Row(key=problem, cells=(Span(problem), *(_matrix_cell(comparison.cell(m, problem)) for m in comparison.models)))
        for problem in comparison.problems
    )
    about = "verdict, best speed-up over eager, passed/attempts, cost; enter on a cell compares the models side by side"
    return View(columns=columns, rows=rows, about=(line(muted(about)),), has_cells=True)


def metrics_view(comparison: ModelComparison, *, glyphs: Glyphs) -> View:
    """A row for each model over all operators, then for each source and category that is not the whole."""
    columns = (
        Column(label="model", width=22, least=12),
        Column(label="group", width=17),
        Column(label="ops", width=5),
        Column(label="correct [95 %]", width=19),
        Column(label="", width=_BAR_CELLS + 1, rank=4),
        Column(label="compiled", width=10, rank=3),
        Column(label="pass@1", width=18, rank=6),
        Column(label="fast_1", width=18, rank=5),
        Column(label="speed-up (all)", width=20, rank=2),
        Column(label="per correct", width=13, rank=1),
    )
    shown = (*comparison.metrics, *comparison.partial_groups)
    about = "shares over operators with bootstrap intervals; a failure counts as the baseline in speed-up (all)"
    rows = tuple(_metrics_row(metrics, glyphs) for metrics in shown)
    return View(columns=columns, rows=rows, about=(line(muted(about)),))


def cost_view(comparison: ModelComparison, *, glyphs: Glyphs) -> View:
    """Cost of each model, as a bar relative to the most expensive one, and the cost of a correct kernel."""
    columns = (
        Column(label="model", width=24, least=12),
        Column(label="answers", width=9),
        Column(label="cost", width=13),
        Column(label="", width=_BAR_CELLS + 1, rank=3),
        Column(label="correct", width=9, rank=2),
        Column(label="per correct", width=13),
        Column(label="per faster", width=13, rank=1),
    )
    most = max((metrics.cost.microusd for metrics in comparison.metrics), default=0) or 1
    rows = tuple(
        Row(
            key=metrics.model,
            cells=(
                Span(metrics.model),
                Span(str(metrics.cost.answers)),
                Span(cost_text(metrics.cost)),
                Span(bar(metrics.cost.microusd / most, glyphs=glyphs), Tone.BUSY),
                Span(str(_correct(comparison, metrics.model))),
                Span(per_correct_text(metrics)),
                Span(per_faster_text(metrics)),
            ),
        )
        for metrics in comparison.metrics
    )
    about = "an unknown price is never counted as 0; > marks a sum that leaves something out"
    return View(columns=columns, rows=rows, about=(line(muted(about)),))


def price_view(models: Sequence[str], prices: PriceList, *, at: datetime, file: str) -> View:
    """US dollars for a million tokens of each model that has stored answers, and of each in the user's file."""
    columns = (
        Column(label="model", width=34, least=14),
        Column(label="input", width=11),
        Column(label="output", width=11),
        Column(label="cached", width=11, rank=1),
        Column(label="cache write", width=13, rank=2),
        Column(label="from", width=16),
    )
    names = tuple(dict.fromkeys((*prices.own_models, *models)))
    about = line(muted("US dollars for a million tokens; "), strong(file), muted(" overrides the maintained list"))
    return View(columns=columns, rows=tuple(_price_row(name, prices, at=at) for name in names), about=(about,))


def bar(share: float, *, glyphs: Glyphs) -> str:
    """A share from 0 to 1 as a bar of at most 20 cells; any value above 0 has at least one cell."""
    cells = min(_BAR_CELLS, max(round(share * _BAR_CELLS), 1 if share > 0 else 0))
    return glyphs.heat[-1] * cells


def runs_beside(comparison: ModelComparison, *, problem: str, model: str, most: int) -> tuple[int, ...]:
    """The runs to compare for a cell: its run, then those of the other models, then its other attempts."""
    cells = [cell for cell in comparison.cells if cell.problem == problem]
    ordered = sorted(cells, key=lambda cell: cell.model != model)
    own = [row.run.number for cell in ordered[:1] for row in cell.attempts if row.run is not None]
    numbers = dict.fromkeys([number for cell in ordered if (number := _run_of(cell)) is not None] + own)
    return tuple(numbers)[:most]


def _run_of(cell: Cell) -> int | None:
    """The best run of a cell; the last one if none passed."""
    if cell.best is not None and cell.best.run is not None:
        return cell.best.run.number
    return next((row.run.number for row in reversed(cell.attempts) if row.run is not None), None)


def _matrix_cell(cell: Cell | None) -> Span:
    if cell is None or not (cell.attempts or cell.cost.answers):
        return Span(NOT_MEASURED, Tone.MUTED)
    speedup = f" {cell.speedup:.2f}x" if cell.speedup is not None else ""
    cost = "" if cell.cost.known_microusd is None else f" {cost_text(cell.cost)}"
    run = cell.best.run if cell.best is not None else None
    word = "proven" if run is not None and run.passed and run.proven == run.passed else cell.word
    text = f"{word}{speedup} {cell.correct}/{len(cell.attempts)}{cost}"
    return Span(text, _TONES.get(cell.word, Tone.BAD))


def _metrics_row(metrics: Metrics, glyphs: Glyphs) -> Row:
    rates = metrics.rates
    return Row(
        key=f"{metrics.model} {metrics.group}",
        cells=(
            strong(metrics.model) if metrics.group == "all" else Span(metrics.model),
            Span(metrics.group),
            Span(str(rates.operators)),
            Span(interval_text(rates.correct, percent=True)),
            Span(bar(rates.correct.value, glyphs=glyphs) if rates.correct is not None else "", Tone.GOOD),
            Span(NOT_MEASURED if rates.compiled is None else f"{rates.compiled:.0%}"),
            Span(interval_text(rates.pass_at.get(1), percent=True)),
            Span(interval_text(rates.fast.get(1.0), percent=True)),
            Span(interval_text(rates.speedup_all)),
            Span(per_correct_text(metrics)),
        ),
    )


def _price_row(name: str, prices: PriceList, *, at: datetime) -> Row:
    provider, _, model = name.partition(":")
    price = prices.price(provider, model, at=at)
    if price is None:
        unknown = (Span("unknown", Tone.MUTED), *(Span("") for _ in range(3)))
        return Row(key=name, cells=(Span(name), *unknown, Span("")))
    usd = (price.input_usd, price.output_usd, price.cached_usd, price.cache_write_usd)
    origin = prices.origin if name in prices.own_models else "genai-prices"
    return Row(key=name, cells=(Span(name), *(Span(f"${float(value):,.4g}") for value in usd), muted(origin)))


def _correct(comparison: ModelComparison, model: str) -> int:
    return sum(cell.correct for cell in comparison.cells if cell.model == model)
