"""Data of the Compare screen: the sides, the alignment of their sources, and the texts.
Computed in a thread, since comparing long sources is slow; the screen draws one of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgtui.highlighting.cleaning import cleaned
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.reading import Colours, colours_of
from kgtui.state.compare.alignment import LONGEST_LINE, Alignment, aligned, unified
from kgtui.state.compare.facts import cost_table, findings_table, resources_table
from kgtui.state.compare.sides import Choice, Side
from kgtui.state.compare.speedup_comparison import Versus, versus
from kgtui.state.compare.summary import Table, cases_table, side_line, times_table
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong

TABS = ("source", "cases", "times", "resources", "findings", "cost")
LEAST_COLUMN = 38


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One comparison; `comparisons` compare the other sides with the first, `colours` are those of each source.

    `alone` has the sources of the first and of each other side merged in one column.
    """

    choice: Choice
    sides: tuple[Side, ...]
    comparisons: tuple[Versus, ...]
    alignment: Alignment
    alone: tuple[Alignment, ...]
    colours: tuple[Colours, ...]
    tables: Mapping[str, Table]

    @property
    def problem(self) -> str:
        """The operator of all sides."""
        return self.sides[0].run.problem

    def heads(self, *, glyphs: Glyphs) -> tuple[Line, ...]:
        """A line with the reason for the choice, then one for every side."""
        comparisons = (None, *self.comparisons)
        about = line(strong("Compare "), Span(self.problem), muted(f"  {self.choice.why}"))
        return (
            about,
            *(side_line(side, one, glyphs=glyphs) for side, one in zip(self.sides, comparisons, strict=True)),
        )

    def tab_line(self, name: str) -> Line:
        """The number that chooses the tab, its title, and the number of differences."""
        count = len(self.alignment.starts) if name == "source" else self.tables[name].differing
        return line(muted(f"{TABS.index(name) + 1} "), Span(f"{name.capitalize()}{f'({count})' if count else ''}"))


def comparison_of(choice: Choice, sides: Sequence[Side], *, glyphs: Glyphs) -> Comparison:
    """Compare these sides, the first being the reference."""
    comparisons = tuple(versus(sides[0], side) for side in sides[1:])
    colours = []
    for side in sides:
        lines = [cleaned(one, longest=LONGEST_LINE) for one in side.lines]
        colours.append(colours_of(lines, TextKind.PYTHON))
        if lines:
            colours[-1](len(lines) - 1)  # colours every line now and not while drawing, since a docstring spans lines
    alignment = aligned([side.lines for side in sides])
    alone = tuple(unified(alignment, other=other) for other in range(1, len(sides)))
    for one in (alignment, *alone):
        _ = one.longest, one.lines  # computed now and not while drawing
    return Comparison(
        choice=choice,
        sides=tuple(sides),
        comparisons=comparisons,
        alignment=alignment,
        alone=alone,
        colours=tuple(colours),
        tables={
            "cases": cases_table(sides, glyphs=glyphs),
            "times": times_table(sides, comparisons, glyphs=glyphs),
            "resources": resources_table(sides, glyphs=glyphs),
            "findings": findings_table(sides, glyphs=glyphs),
            "cost": cost_table(sides, glyphs=glyphs),
        },
    )


@dataclass(frozen=True, kw_only=True)
class SourceView:
    """The visible sources: `columns` are the cells of a row to draw, `shown` their sides."""

    alignment: Alignment
    columns: tuple[int, ...]
    colours: tuple[Colours, ...]
    shown: tuple[int, ...]

    @property
    def is_unified(self) -> bool:
        """Whether two sources are merged in one column."""
        return len(self.columns) < len(self.shown)

    def titles(self, comparison: Comparison, *, width: int, glyphs: Glyphs) -> Line:
        """Title of each column."""
        names = [f"{comparison.sides[side].name} {comparison.sides[side].filename}" for side in self.shown]
        count = len(comparison.alignment.starts)
        differ = f"{count} {'difference' if count == 1 else 'differences'}" if count else "the same text"
        if self.is_unified:
            return line(
                Span(f"- {names[0]}", Tone.BAD),
                muted(f" {glyphs.then} "),
                Span(f"+ {names[1]}", Tone.GOOD),
                muted(f"  {differ}"),
            )
        share = width // len(self.columns)
        *first, last = (f" {name}" for name in names)
        return line(
            *(Span(name[: share - 1].ljust(share), Tone.STRONG) for name in first), strong(last), muted(f"  {differ}")
        )


def source_view(comparison: Comparison, *, width: int, narrow: bool, turned: int) -> SourceView:
    """The reference with as many others as fit, from the selected one; on a narrow screen, in one column."""
    others = len(comparison.sides) - 1
    first = turned % others
    fit = 1 if narrow else min(others, max(1, width // LEAST_COLUMN - 1))
    shown = (0, *sorted(1 + (first + place) % others for place in range(fit)))
    colours = tuple(comparison.colours[side] for side in shown)
    if narrow:
        alone = comparison.alone[shown[1] - 1]
        return SourceView(alignment=alone, columns=(0,), colours=colours, shown=shown)
    return SourceView(alignment=comparison.alignment, columns=shown, colours=colours, shown=shown)
