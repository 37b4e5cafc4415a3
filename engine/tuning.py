"""What came of a grid of variants of one candidate: a row for each, and which of them may be proposed.

Only measured times propose anything.  What was not timed, is wrong or not credible never wins, and a
variant that the measurement cannot tell from the file as it is is no improvement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.benchmark import Interval, Summary
from engine.knobs import Variant
from engine.model import CompiledKernel, Outcome
from engine.occupancy import occupancy
from engine.report import CollectedRun, Plain, word_of

AS_IT_IS = "as it is"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One variant and its run."""

    variant: Variant
    run: CollectedRun

    @property
    def is_right(self) -> bool:
        """Whether it passed and is credible."""
        verdict = self.run.finished.verdict
        return verdict.outcome is Outcome.PASS and not verdict.flagged

    @property
    def summary(self) -> Summary | None:
        """Against the first baseline; None where not every planned case was right and timed."""
        whole = [one for one in self.run.benchmarks.summaries if one.cases == one.planned and one.cases]
        return whole[0] if whole and self.is_right else None

    @property
    def speedup(self) -> Interval | None:
        """How many times as fast as the baseline."""
        return self.summary.speedup if self.summary else None

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """What was compiled for the target, and built."""
        return tuple(kernel for kernel in self.run.kernels if kernel.outcome is Outcome.PASS)


def proposed(trials: Sequence[Trial]) -> Trial | None:
    """The variant that was measured to be faster than the file as it is, the first trial; None when none was.

    Faster means that the two intervals do not meet: each trial is a run of its own.
    """
    current, *others = trials
    timed = [(trial.speedup, trial) for trial in others if trial.speedup is not None]
    if not timed or current.speedup is None:
        return None
    speedup, best = max(timed, key=lambda pair: pair[0].value)
    return best if speedup.low > current.speedup.high else None


def why_none(trials: Sequence[Trial]) -> str:
    """Why nothing is proposed, in a sentence."""
    if not any(trial.is_right for trial in trials):
        return "no variant is right, so none is proposed"
    if not any(trial.run.benchmarks.cases for trial in trials):
        return "nothing was timed on this device, so no variant is proposed: what it takes up tells no speed"
    if trials[0].speedup is None:
        return "the file as it is was not timed in all cases, so nothing can be said to be faster than it"
    return "no variant was measured to be faster than the file as it is"


def trial_rows(trials: Sequence[Trial]) -> list[tuple[str, ...]]:
    """A row for each trial under a header; a dash for what is not known."""
    baseline = next((trial.summary.baseline for trial in trials if trial.summary), None)
    return [
        ("variant", "run", "verdict", "registers", "spilled B", "shared B", "occupancy", f"x {baseline or 'baseline'}"),
        *(_row(trial) for trial in trials),
    ]


def plain_trial(trial: Trial) -> Plain:
    """One trial for a JSON document."""
    verdict = trial.run.finished.verdict
    speedup: Any = msgspec.to_builtins(trial.speedup)  # Any: JSON values of every shape
    return {
        "variant": trial.variant.name, "run": trial.run.number, "verdict": msgspec.to_builtins(verdict),
        "digest": trial.run.started.digest, "registers": _most([kernel.registers for kernel in trial.kernels]),
        "spill_bytes": _most([kernel.spill_bytes for kernel in trial.kernels]),
        "shared_bytes": _most([kernel.shared_bytes for kernel in trial.kernels]),
        "occupancy_percent": _occupancy(trial), "baseline": trial.summary.baseline if trial.summary else None,
        "speedup": speedup,
    }  # fmt: skip


def _row(trial: Trial) -> tuple[str, ...]:
    percent, speedup = _occupancy(trial), trial.speedup
    numbers = (
        _most([kernel.registers for kernel in trial.kernels]), _most([kernel.spill_bytes for kernel in trial.kernels]),
        _most([kernel.shared_bytes for kernel in trial.kernels]),
    )  # fmt: skip
    return (
        trial.variant.name,
        "-" if trial.run.number is None else f"#{trial.run.number}",
        word_of(trial.run.finished.verdict),
        *("-" if value is None else f"{value:,}" for value in numbers),
        "-" if percent is None else f"{percent:.0f}%",
        "-" if speedup is None else f"{speedup.value:.2f} ({speedup.low:.2f} to {speedup.high:.2f})",
    )


def _most(values: Sequence[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _occupancy(trial: Trial) -> float | None:
    known = [told.percent for kernel in trial.kernels if (told := occupancy(kernel)) is not None]
    return min(known, default=None)
