"""Formats every number of the screen: one function for each unit, so that panes are consistent.
There are no defaults: an unmeasured value is None in the caller, which shows a dash.
"""

from __future__ import annotations

from engine.model import Cost
from engine.model.benchmark import Interval
from kgtui.state.format.glyphs import Glyphs

_SIGNIFICANT = ((100, 0), (10, 1), (1, 2))
_BINARY_UNITS = (("GiB", 30), ("MiB", 20), ("KiB", 10))
_TIME_DIGITS = ((1000, 0), (10, 1), (1, 2))


def seconds(duration_s: float) -> str:
    """A duration in three or four characters and its unit."""
    if 0 < duration_s < 0.001:
        return "<1 ms"
    if duration_s < 0.1:
        return f"{duration_s * 1000:.0f} ms"
    if duration_s < 100:
        return f"{duration_s:.2f} s" if duration_s < 10 else f"{duration_s:.1f} s"
    return f"{duration_s / 60:.0f} min"


def error(value: float) -> str:
    """An error in a few characters: small counts unchanged, the rest with two digits and an exponent."""
    if value == 0:
        return "0"
    if 1 <= value < 1_000_000 and value == int(value):
        return f"{int(value)}"
    return f"{value:.1e}"


def short(value: float) -> str:
    """A quantity with three significant digits: 0.123, 4.27, 38.1, 512, 12,345."""
    for least, digits in _SIGNIFICANT:
        if abs(round(value, digits)) >= least:  # 9.996 has the digits of 10
            return f"{value:,.{digits}f}"
    return f"{value:.3f}".rstrip("0").rstrip(".") or "0"


def microseconds(value_us: Interval, *, glyphs: Glyphs) -> str:
    """A time with the wider half of its interval, both to the same digit."""
    return _with_reach(value_us, digits=_time_digits(value_us.value), glyphs=glyphs)


def ratio(value: Interval, *, glyphs: Glyphs) -> str:
    """A speed-up with the wider half of its interval, for a column with its own title."""
    return _with_reach(value, digits=2, glyphs=glyphs)


def factor(value: Interval, *, glyphs: Glyphs) -> str:
    """A speed-up for a sentence: 1.36× ±0.02."""
    return _with_reach(value, digits=2, glyphs=glyphs, unit=glyphs.times)


def span(value: Interval, *, digits: int) -> str:
    """The two ends of an interval."""
    return f"{value.low:,.{digits}f} to {value.high:,.{digits}f}"


def span_us(value_us: Interval) -> str:
    """The two ends of a time's interval."""
    return span(value_us, digits=max(2, _time_digits(value_us.value)))


def percent(value: float) -> str:
    """A share of the roofline; with one more digit if it is tiny."""
    return f"{value:.0f}%" if value >= 10 else f"{value:.1f}%"


def bytes_of(count: int) -> str:
    """A size in memory, in a larger unit if it is a multiple of it."""
    for unit, shift in _BINARY_UNITS:
        if count and count % (1 << shift) == 0 and count >> shift < 1024:
            return f"{count >> shift:,} {unit}"
    for unit, shift in _BINARY_UNITS:
        if count >= 10 << shift:
            return f"{count / (1 << shift):,.0f} {unit}"
    return f"{count:,} B"


def tick(value: float) -> str:
    """A round value at an axis, without insignificant zeros."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def count_of(number: int) -> str:
    """A count of operations in three digits and a letter: 5, 1.05 M, 137 G."""
    value = float(number)
    for letter in ("", " K", " M", " G"):
        if round(value) < 1000:
            return f"{short(value)}{letter}" if letter else f"{number}"
        value /= 1000
    return f"{short(value)} T"


def rate_bytes(bytes_per_s: float) -> str:
    """A bandwidth, in decimal units, as vendors use."""
    if bytes_per_s >= 1e12:
        return f"{short(bytes_per_s / 1e12)} TB/s"
    return f"{short(bytes_per_s / 1e9)} GB/s"


def rate_flops(flops_per_s: float) -> str:
    """Operations per second."""
    return f"{short(flops_per_s / 1e12)} TFLOP/s"


def intensity(cost: Cost) -> str | None:
    """Operations per byte moved; None if nothing is moved."""
    moved = cost.bytes_read + cost.bytes_written
    return short(cost.flops / moved) if moved else None


def _time_digits(value_us: float) -> int:
    return next((digits for least, digits in _TIME_DIGITS if value_us >= least), 3)


def _with_reach(value: Interval, *, digits: int, glyphs: Glyphs, unit: str = "") -> str:
    reach = max(value.high - value.value, value.value - value.low)
    return f"{value.value:,.{digits}f}{unit} {glyphs.plus_minus}{reach:,.{digits}f}"
