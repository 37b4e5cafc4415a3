"""The variants of a grid as a table: columns by the available width, rows in the requested order.

An unmeasured value is a dash, and sorted last in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgtui.state.format import numbers
from kgtui.state.format.glyphs import TONES, Glyphs
from kgtui.state.format.lines import Column, Row, Span, Tone, muted
from kgtui.state.tuning.grid import Tried, VariantGrid, doing, verdict_words

GRID_ORDER = "order"
MARK, VARIANT, VERDICT, TIME, RATIO, REGISTERS, SPILL, SHARED, OCCUPANCY, RUN = (
    "mark", "variant", "verdict", "time", "ratio", "registers", "spill", "shared", "occupancy", "run",
)  # fmt: skip
_MOST_VARIANT_CELLS, _MOST_KNOB_CELLS = 44, 12
_BEST_FIRST = {RATIO, OCCUPANCY}  # columns in which more is better
_FILE_MARK, _WINNER_MARK = "=", "*"

Comparable = tuple[int, float, str]


@dataclass(frozen=True, kw_only=True)
class TrialColumn:
    """One column: its sort key, None for unknown, and its cell."""

    id: str
    label: str
    width: int
    value: Callable[[Tried], float | str | None]
    cell: Callable[[Tried], Span]


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """Sort order: the column, and whether the order is reversed from best or first on top."""

    by: str = GRID_ORDER
    reversed: bool = False

    def after(self, columns: Sequence[TrialColumn]) -> Sorting:
        """The order by the next column, and after the last column that of the grid."""
        ids = [GRID_ORDER, *(column.id for column in columns if column.id != MARK)]
        place = ids.index(self.by) + 1 if self.by in ids else 0
        return Sorting(by=ids[place % len(ids)])

    def on(self, column: str) -> Sorting:
        """The order by this column; reversed if it is already sorted by it."""
        return Sorting(by=column, reversed=not self.reversed if self.by == column else False)


def trial_columns(grid: VariantGrid, *, timed: bool, room: int, glyphs: Glyphs) -> tuple[TrialColumn, ...]:
    """The columns of this grid, times only if `timed`; the number of the run if it fits."""
    spill = 1 + max((len(_bytes(one.spill_bytes, glyphs).text) for one in grid.tried), default=0)
    spill = max(spill, len("spill") + 1)
    times = (
        TrialColumn(id=TIME, label=f"device {glyphs.micro}s", width=13, value=_time, cell=lambda one: _us(one, glyphs)),
        TrialColumn(
            id=RATIO, label=f"{glyphs.times} file", width=12, value=_ratio, cell=lambda one: _factor(one, glyphs)
        ),
    )
    columns = (
        TrialColumn(id=MARK, label="", width=2, value=lambda one: one.place, cell=lambda one: _mark(one, grid)),
        *_value_columns(grid, glyphs),
        TrialColumn(id=VERDICT, label="verdict", width=15, value=lambda one: verdict_words(one)[1],
                    cell=lambda one: _verdict(one, glyphs)),
        *(times if timed else ()),
        TrialColumn(id=REGISTERS, label="regs", width=6, value=lambda one: one.registers,
                    cell=lambda one: _count(one.registers, glyphs)),
        TrialColumn(id=SPILL, label="spill", width=spill, value=lambda one: one.spill_bytes,
                    cell=lambda one: _bytes(one.spill_bytes, glyphs, tone=Tone.WARN)),
        TrialColumn(id=SHARED, label="shared", width=8, value=lambda one: one.shared_bytes,
                    cell=lambda one: _bytes(one.shared_bytes, glyphs)),
        TrialColumn(id=OCCUPANCY, label="occup.", width=7, value=lambda one: one.occupancy_percent,
                    cell=lambda one: _percent(one.occupancy_percent, glyphs)),
        TrialColumn(id=RUN, label="run", width=8, value=lambda one: one.trial.run.number,
                    cell=lambda one: _number(one, glyphs)),
    )  # fmt: skip
    return columns if sum(column.width for column in columns) <= room else columns[:-1]


def drawn_columns(columns: Sequence[TrialColumn], sorting: Sorting) -> tuple[Column, ...]:
    """The columns for the table; the sorted one has a sign."""
    signs = ("<", ">")
    return tuple(
        Column(
            label=f"{column.label}{signs[sorting.reversed] if column.id == sorting.by else ''}"[: column.width - 1],
            width=column.width,
        )
        for column in columns
    )


def in_order(grid: VariantGrid, columns: Sequence[TrialColumn], sorting: Sorting) -> tuple[Tried, ...]:
    """Tried variants, sorted; those without a value last, equal ones in the order of the grid."""
    column = next((one for one in columns if one.id == sorting.by), None)
    if column is None:
        return grid.tried
    known = [(value, one) for one in grid.tried if (value := column.value(one)) is not None]
    unknown = [one for one in grid.tried if column.value(one) is None]
    backwards = sorting.reversed is not (column.id in _BEST_FIRST)
    known.sort(key=lambda pair: _comparable(pair[0]), reverse=backwards)
    return (*(one for _, one in known), *unknown)


def trial_rows(
    grid: VariantGrid, columns: Sequence[TrialColumn], sorting: Sorting, *, glyphs: Glyphs, stale: bool
) -> tuple[Row, ...]:
    """A row for each finished variant, with its index as key, then one for the running variant."""
    rows = [
        Row(key=str(one.place), cells=tuple(column.cell(one) for column in columns), stale=stale)
        for one in in_order(grid, columns, sorting)
    ]
    if grid.current is not None:
        rows.append(Row(key=str(len(grid.tried)), cells=_running_cells(grid, columns, glyphs)))
    return tuple(rows)


def values_of(name: str) -> dict[str, str] | None:
    """The values that the name of a variant lists, by tunable; None if it is not of the form `A=1 B=2`."""
    pairs = [word.partition("=") for word in name.split(" ")]
    if any(not tunable.isidentifier() or not value for tunable, _, value in pairs):
        return None
    return {tunable: value for tunable, _, value in pairs}


def _value_columns(grid: VariantGrid, glyphs: Glyphs) -> tuple[TrialColumn, ...]:
    """A column for each tunable; one for all if the variants have other names."""
    parsed = [values_of(variant.name) for variant in grid.variants[1:]]
    known = [values for values in parsed if values is not None]
    tunables = tuple(dict.fromkeys(tunable for values in known for tunable in values))
    if not parsed or len(known) < len(parsed) or any(set(values) != set(tunables) for values in known):
        width = min(_MOST_VARIANT_CELLS, max(len(variant.name) for variant in grid.variants) + 1)
        return (
            TrialColumn(
                id=VARIANT,
                label="variant",
                width=width,
                value=lambda one: one.name,
                cell=lambda one: Span(one.name, _tone(one)),
            ),
        )
    return tuple(
        _tunable_column(tunable, grid, glyphs, widest=max(len(one[tunable]) for one in known)) for tunable in tunables
    )


def _tunable_column(tunable: str, grid: VariantGrid, glyphs: Glyphs, *, widest: int) -> TrialColumn:
    label = tunable.removeprefix("num_")
    width = min(_MOST_KNOB_CELLS, max(len(label) + 1, widest, len(grid.now.get(tunable, "")))) + 1

    def text(one: Tried) -> str | None:
        return grid.now.get(tunable) if one.place == 0 else (values_of(one.name) or {}).get(tunable)

    return TrialColumn(
        id=f"knob {tunable}",
        label=label,
        width=width,
        value=lambda one: _number_or_text(text(one)),
        cell=lambda one: Span(text(one) or glyphs.dash, _tone(one)),
    )


def _running_cells(grid: VariantGrid, columns: Sequence[TrialColumn], glyphs: Glyphs) -> tuple[Span, ...]:
    variant, place = grid.current, len(grid.tried)
    assert variant is not None
    state, words, far = doing(grid.running)
    values = grid.now if place == 0 else values_of(variant.name) or {}
    shown = {f"knob {tunable}": value for tunable, value in values.items()} | {
        VARIANT: variant.name,
        VERDICT: f"{glyphs.state(state)} {far or words}",
        MARK: "" if place else _FILE_MARK,
    }
    return tuple(Span(shown[column.id], Tone.BUSY) if column.id in shown else muted(glyphs.dash) for column in columns)


def _mark(one: Tried, grid: VariantGrid) -> Span:
    if one.place == 0:
        return Span(_FILE_MARK, Tone.STRONG)
    return Span(_WINNER_MARK if one is grid.winner else "", Tone.GOOD)


def _tone(one: Tried) -> Tone:
    return Tone.STRONG if one.place == 0 else Tone.PLAIN


def _verdict(one: Tried, glyphs: Glyphs) -> Span:
    state, words = verdict_words(one)
    return Span(f"{glyphs.state(state)} {words}", TONES[state])


def _time(one: Tried) -> float | None:
    return one.device_us.value if one.device_us else None


def _us(one: Tried, glyphs: Glyphs) -> Span:
    return Span(numbers.microseconds(one.device_us, glyphs=glyphs)) if one.device_us else muted(glyphs.dash)


def _ratio(one: Tried) -> float | None:
    return one.ratio.value if one.ratio else None


def _factor(one: Tried, glyphs: Glyphs) -> Span:
    """Tone of a factor: good only if the interval confirms it."""
    if one.place == 0 and one.device_us:
        return muted("the file")
    if one.ratio is None:
        return muted(glyphs.dash)
    tone = Tone.GOOD if one.ratio.low > 1 else Tone.BAD if one.ratio.high < 1 else Tone.PLAIN
    return Span(numbers.ratio(one.ratio, glyphs=glyphs), tone)


def _count(value: int | None, glyphs: Glyphs) -> Span:
    return muted(glyphs.dash) if value is None else Span(f"{value:,}")


def _bytes(value: int | None, glyphs: Glyphs, *, tone: Tone = Tone.PLAIN) -> Span:
    return muted(glyphs.dash) if value is None else Span(numbers.bytes_of(value), tone if value else Tone.PLAIN)


def _percent(value: float | None, glyphs: Glyphs) -> Span:
    return muted(glyphs.dash) if value is None else Span(numbers.percent(value))


def _number(one: Tried, glyphs: Glyphs) -> Span:
    return muted(glyphs.dash if one.trial.run.number is None else f"#{one.trial.run.number}")


def _number_or_text(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(int(text, base=0))
    except ValueError:
        return text


def _comparable(value: float | str) -> Comparable:
    """Sort key: numbers before text."""
    return (0, value, "") if isinstance(value, int | float) else (1, 0.0, value)
