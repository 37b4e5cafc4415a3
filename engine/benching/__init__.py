"""The parent's side of the clock: `Bench` times the cases of a plan, `measure_peaks` what the device can do."""

from engine.benching.bench import Bench, Reload
from engine.benching.exchange import Side
from engine.benching.peaks import measure_peaks, versions_text

__all__ = ["Bench", "Reload", "Side", "measure_peaks", "versions_text"]
