"""The comparison of all stored answers behind the tables of the Models screen, computed in a thread."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import KgtuiError
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.comparing.curves import Quantity, Spent, curves_of
from kgtui.generation.comparing.groups import groups_from
from kgtui.generation.display.rows import COLUMNS
from kgtui.generation.display.views import View, cost_view, matrix_view, metrics_view, price_view
from kgtui.state.format.lines import Span, Tone, line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kgtui.generation.comparing.comparison import ModelComparison
    from kgtui.generation.comparing.curves import Curve
    from kgtui.generation.comparing.groups import GroupsOf
    from kgtui.screens.base.host import Host
    from sessions.candidates.generation_rows import GenerationRow


class ComparedModels:
    """Caches the comparison until other answers are stored; None before it is computed."""

    def __init__(self) -> None:
        self.comparison: ModelComparison | None = None
        self.curves: Mapping[tuple[Quantity, Spent], tuple[Curve, ...]] = {}
        self._rows: tuple[GenerationRow, ...] = ()

    async def refresh(self, host: Host) -> None:
        """Compute it again if other answers are stored."""
        rows = await host.runs.generation.every_row()
        if self.comparison is None or rows != self._rows:
            groups_of = groups_from(host.problems)
            self.comparison, self.curves = await asyncio.to_thread(partial(_computed, rows, groups_of=groups_of))
            self._rows = rows

    def view(self, tab: str, host: Host) -> View | None:
        """The table of this name; None before the comparison is computed."""
        match self.comparison, tab:
            case None, _:
                return None
            case found, "matrix":
                return matrix_view(found)
            case found, "metrics":
                return metrics_view(found, glyphs=host.glyphs)
            case found, "cost":
                return cost_view(found, glyphs=host.glyphs)
            case found, _:
                return _prices(found, host)


def _computed(
    rows: Sequence[GenerationRow], *, groups_of: GroupsOf
) -> tuple[ModelComparison, dict[tuple[Quantity, Spent], tuple[Curve, ...]]]:
    comparison = comparison_of(rows, groups_of=groups_of)
    pairs = itertools.product(Quantity, Spent)
    return comparison, {(quantity, spent): curves_of(comparison, quantity, spent) for quantity, spent in pairs}


def _prices(comparison: ModelComparison, host: Host) -> View:
    generation = host.runs.generation
    try:
        prices = generation.prices
    except KgtuiError as error:
        return View(columns=COLUMNS, rows=(), about=(line(Span(str(error), Tone.WARN)),))
    return price_view(comparison.models, prices, at=host.now(), file=str(generation.price_file))
