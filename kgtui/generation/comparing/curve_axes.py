"""The axes of curves of models, in a terminal or a report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kgtui.generation.comparing.curves import Curve, Quantity, Spent
from kgtui.state.format.plot import Axis, linear_axis, log_axis

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def plotted(curve: Curve, spent: Spent) -> tuple[tuple[float, float], ...]:
    """The points that can be drawn: the axis of costs is logarithmic and has no 0."""
    return tuple((x, y) for x, y in curve.points if x > 0 or spent is Spent.ANSWERS)


def spent_axis(curves: Sequence[Curve], spent: Spent, *, most: int) -> Axis:
    """The axis of answers, from 0, or of costs, logarithmic."""
    spends = [x for curve in curves for x, _ in plotted(curve, spent)]
    if spent is Spent.COST:
        return log_axis(min(spends), max(spends), _short_usd, base=10, most=most)
    step = max(1, math.ceil(max(spends) / (most - 1)))
    ticks = tuple((float(answers), str(answers)) for answers in range(0, round(max(spends)) + 1, step))
    return Axis(low=0.0, high=max(spends), ticks=ticks)


def quantity_axis(curves: Sequence[Curve], quantity: Quantity, *, most: int) -> Axis:
    """The axis of shares, from 0 to 100 %, or of factors, from 0."""
    if quantity is Quantity.SOLVED:
        shares = _SHARES if most >= len(_SHARES) else _SHARES[::2]
        return Axis(low=0.0, high=1.0, ticks=tuple((share, f"{share:.0%}") for share in shares))
    highest = max(y for curve in curves for _, y in curve.points)
    return linear_axis(highest, lambda factor: f"{factor:.3g}x", most=most)


def _short_usd(microusd: float) -> str:
    """Money without trailing zeros."""
    return "$" + f"{microusd / 1_000_000:.6f}".rstrip("0").rstrip(".")
