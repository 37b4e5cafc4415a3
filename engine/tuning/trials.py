"""Results of a grid of variants of one candidate: a row for each, and those that may be proposed.

Only measured times propose anything.  A variant that was not timed, is wrong or not credible never wins, and one that
the measurement cannot distinguish from the unchanged file is not an improvement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

import msgspec

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Outcome
from engine.model.benchmark import Interval, Summary
from engine.reports.run_record import RunRecord
from engine.reports.text import Plain
from engine.reports.verdict_words import word_of
from engine.tuning.tunables import Variant

AS_IT_IS = "as it is"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One variant and its run."""

    variant: Variant
    run: RunRecord

    @property
    def is_right(self) -> bool:
        """Whether it passed and is credible."""
        verdict = self.run.final
        return verdict.outcome is Outcome.PASS and not verdict.flagged

    @property
    def summary(self) -> Summary | None:
        """Summary against the first baseline; None unless every planned case was right and timed."""
        whole = [one for one in self.run.benchmark_report.summaries if one.cases == one.planned and one.cases]
        return whole[0] if whole and self.is_right else None

    @property
    def speedup(self) -> Interval | None:
        """How many times as fast as the baseline; None without a summary."""
        return self.summary.speedup if self.summary else None

    @property
    def device_us(self) -> Interval | None:
        """Device time of one call, the geometric mean over the cases; None without a summary or a case's time."""
        times = [one.timing.device_us if one.timing else None for one in self.run.benchmark_report.right]
        known = [time_us for time_us in times if time_us is not None]
        if self.summary is None or not known or len(known) < len(times) or min(one.low for one in known) <= 0:
            return None
        return Interval(
            value=geometric_mean([one.value for one in known]),
            low=geometric_mean([one.low for one in known]),
            high=geometric_mean([one.high for one in known]),
        )

    def ratio_to(self, current: Trial) -> Interval | None:
        """How many times as fast as `current`, by the baseline of their own runs.

        None if one has no summary, or their baselines differ.

        The interval contains every ratio of two values of the two intervals.
        """
        mine, its = self.summary, current.summary
        if mine is None or its is None or mine.baseline != its.baseline or its.speedup.low <= 0:
            return None
        over, under = mine.speedup, its.speedup
        return Interval(value=over.value / under.value, low=over.low / under.high, high=over.high / under.low)

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """Kernels that were compiled for the target, and built; none if some were left out, which may need more."""
        if self.run.kernels_left_out:
            return ()
        return tuple(kernel for kernel in self.run.kernels if kernel.outcome is Outcome.PASS)

    @property
    def registers(self) -> int | None:
        """Registers per thread, the most of all kernels; None if unknown."""
        return _most([kernel.registers for kernel in self.kernels])

    @property
    def spill_bytes(self) -> int | None:
        """Spilled bytes, the most of all kernels; None if unknown."""
        return _most([kernel.spill_bytes for kernel in self.kernels])

    @property
    def shared_bytes(self) -> int | None:
        """Bytes of shared memory, the most of all kernels; None if unknown."""
        return _most([kernel.shared_bytes for kernel in self.kernels])

    @property
    def occupancy_percent(self) -> float | None:
        """The lowest occupancy of the kernels; None if unknown."""
        return min((level.percent for one in self.kernels if (level := occupancy(one)) is not None), default=None)


def proposed(trials: Sequence[Trial]) -> Trial | None:
    """The variant that was measured to be faster than the unchanged file, the first trial; None if none was.

    Faster means that the two intervals do not overlap: each trial is a separate run.
    """
    current, *others = trials
    compared = [(ratio, trial) for trial in others if (ratio := trial.ratio_to(current)) is not None]
    if not compared:
        return None
    ratio, best = max(compared, key=lambda pair: pair[0].value)
    return best if ratio.low > 1 else None


def why_none(trials: Sequence[Trial]) -> str:
    """Reason why nothing is proposed, in a sentence."""
    if not any(trial.is_right for trial in trials):
        return "no variant passed, so none is proposed"
    if not any(trial.run.benchmark_report.cases for trial in trials):
        return (
            "nothing was timed on this device, so no variant is proposed: resource usage alone does not predict speed"
        )
    if trials[0].speedup is None:
        return "the baseline was not timed in all cases, so no variant can be called faster"
    return "no variant was measured to be faster than the baseline"


def trial_rows(trials: Sequence[Trial]) -> list[tuple[str, ...]]:
    """A row for each trial under a header; a dash for an unknown value."""
    baseline = next((trial.summary.baseline for trial in trials if trial.summary), None)
    return [
        ("variant", "run", "verdict", "registers", "spilled B", "shared B", "occupancy", f"x {baseline or 'baseline'}"),
        *(_row(trial) for trial in trials),
    ]


def plain_trial(trial: Trial) -> Plain:
    """One trial for a JSON document."""
    verdict = trial.run.final
    speedup: Any = msgspec.to_builtins(trial.speedup)  # Any: JSON values of every shape
    return {
        "variant": trial.variant.name,
        "run": trial.run.number,
        "verdict": msgspec.to_builtins(verdict),
        "digest": trial.run.digest,
        "registers": trial.registers,
        "spill_bytes": trial.spill_bytes,
        "shared_bytes": trial.shared_bytes,
        "occupancy_percent": trial.occupancy_percent,
        "baseline": trial.summary.baseline if trial.summary else None,
        "speedup": speedup,
    }


def _row(trial: Trial) -> tuple[str, ...]:
    percent, speedup = trial.occupancy_percent, trial.speedup
    numbers = (trial.registers, trial.spill_bytes, trial.shared_bytes)
    return (
        trial.variant.name,
        "-" if trial.run.number is None else f"#{trial.run.number}",
        word_of(trial.run.final),
        *("-" if value is None else f"{value:,}" for value in numbers),
        "-" if percent is None else f"{percent:.0f}%",
        "-" if speedup is None else f"{speedup.value:.2f} ({speedup.low:.2f} to {speedup.high:.2f})",
    )


def _most(values: Sequence[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
