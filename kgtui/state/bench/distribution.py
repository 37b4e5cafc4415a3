"""A distribution in one row of blocks: the frequency of each time, shortest first."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from kgtui.state.format.glyphs import Glyphs

# A sample further from the middle half than this many times its width is only counted, not drawn.
_REACH = 3.0


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Samples in bins of equal width from `low` to `high`; `beyond` counts those too far above to be drawn to scale."""

    counts: tuple[int, ...]
    low: float
    high: float
    beyond: int

    def strip(self, glyphs: Glyphs) -> str:
        """One character per bin, higher for more samples; a space for none."""
        most = max(self.counts)
        top = len(glyphs.bars) - 1
        return "".join(" " if not count else glyphs.bars[round(top * count / most)] for count in self.counts)


def distribution(samples: tuple[float, ...], *, bins: int) -> Distribution | None:
    """The samples in `bins` bins; None if there are fewer than two."""
    if len(samples) < 2:
        return None
    low = min(samples)
    first, _, third = statistics.quantiles(samples, n=4, method="inclusive")
    high = min(max(samples), third + _REACH * (third - first))
    width = (high - low) / bins
    counts = [0] * bins
    drawn = [sample for sample in samples if sample <= high]
    for sample in drawn:
        counts[min(bins - 1, int((sample - low) / width)) if width > 0 else 0] += 1
    return Distribution(counts=tuple(counts), low=low, high=high, beyond=len(samples) - len(drawn))
