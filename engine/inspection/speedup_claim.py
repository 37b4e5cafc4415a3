"""A claimed speed-up, compared with the measurement.

A claim never changes the verdict, since correctness does not depend on speed.  A case that was not measured, or does
not count, neither supports a claim nor refutes it.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import UsageError
from engine.model.benchmark import Interval, Summary
from engine.reports.bench import Benchmarks, number
from engine.reports.printable import printable

DEFAULT_BASELINE = "eager"

_FORM = re.compile(r"(?P<speedup>\d+(?:\.\d+)?)[x×]?(?:\s+(?P<baseline>\S+))?", re.ASCII)


class Backing(enum.StrEnum):
    """Relation of a measurement to a claim."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    EXCEEDED = "exceeded"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A speed-up over a baseline: the geometric mean over the timed cases."""

    speedup: float
    baseline: str = DEFAULT_BASELINE

    def __post_init__(self) -> None:
        if not (math.isfinite(self.speedup) and self.speedup > 0):
            raise ValueError(f"a speed-up is finite and above 0, got {self.speedup}")

    @property
    def factor(self) -> str:
        """The speed-up in the usual notation: "2.3x"."""
        return f"{self.speedup:g}x"


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """A claim and its result, in one sentence.

    `measured` is the geometric mean that counts, None if there is none.  `resolution` is the smallest relative
    difference that counts in every case.  `shortfall` is the part of the claimed speed-up that even the upper end
    of the interval lacks.
    """

    claim: Claim
    backing: Backing
    sentence: str
    measured: Interval | None = None
    resolution: float | None = None
    shortfall: float | None = None


def parse_claim(text: str, *, baselines: Sequence[str]) -> Claim:
    """The claim that was typed: "2.3x", "2.3", or with its baseline, "2.3x compile".

    Raises:
        UsageError: it has another form, or there is no such baseline.
    """
    form = _FORM.fullmatch(text.strip())
    speedup = float(form["speedup"]) if form else 0.0
    if form is None or not (math.isfinite(speedup) and speedup > 0):
        raise UsageError(
            f"invalid claim {printable(text[:80])!r}: expected a speed-up above 0 such as 2.3x, "
            f'or with its baseline in quotes, "2.3x {DEFAULT_BASELINE}"'
        )
    baseline = form["baseline"] or DEFAULT_BASELINE
    if baseline not in baselines:
        raise UsageError(
            f"the claim {printable(text)!r} names an unknown baseline, {printable(baseline)!r}: "
            f"use one of {', '.join(baselines)}"
        )
    return Claim(speedup=speedup, baseline=baseline)


def hold(claim: Claim, benchmarks: Benchmarks, *, untimed: str) -> ClaimResult:
    """Compare the claim with the measurement; `untimed` is the reason if nothing was timed."""
    summary = next((one for one in benchmarks.summaries if one.baseline == claim.baseline), None)
    resolution = _resolution(benchmarks, claim.baseline)
    why = _unmeasured(claim, benchmarks, summary, resolution, untimed=untimed)
    subject = f"the claim of {claim.factor} against {claim.baseline}"
    if why or summary is None or resolution is None:
        return ClaimResult(claim=claim, backing=Backing.NOT_MEASURED, sentence=f"{subject} was not measured: {why}")
    speedup = summary.speedup
    backing = _backing(claim, speedup, resolution)
    measured = f"{number(speedup.value)}x measured [{number(speedup.low)}, {number(speedup.high)}]"
    shortfall = 1 - speedup.high / claim.speedup if backing is Backing.NOT_SUPPORTED else None
    rest = f", at least {shortfall:.1%} short" if shortfall is not None else f", resolution {resolution:.1%}"
    return ClaimResult(
        claim=claim,
        backing=backing,
        sentence=f"{subject} is {backing}: {measured}{rest}",
        measured=speedup,
        resolution=resolution,
        shortfall=shortfall,
    )


def _backing(claim: Claim, speedup: Interval, resolution: float) -> Backing:
    """Relation of speed-up and claim; a difference within the resolution counts neither for nor against it."""
    if speedup.high * (1 + resolution) < claim.speedup:
        return Backing.NOT_SUPPORTED
    return Backing.EXCEEDED if speedup.low > claim.speedup * (1 + resolution) else Backing.SUPPORTED


def _unmeasured(
    claim: Claim, benchmarks: Benchmarks, summary: Summary | None, resolution: float | None, *, untimed: str
) -> str:
    """Why there is no mean that counts; "" if there is one."""
    if not benchmarks.cases:
        return untimed
    if benchmarks.doubt:
        return benchmarks.doubt
    if summary is None or resolution is None:
        return f"no case was compared with {claim.baseline}"
    if summary.cases < summary.planned:
        return f"only {summary.cases} of {summary.planned} cases were compared with {claim.baseline}"
    return ""


def _resolution(benchmarks: Benchmarks, baseline: str) -> float | None:
    """The coarsest resolution of all cases, or None if nothing was compared."""
    compared = (one for case in benchmarks.right for one in case.comparisons if one.baseline == baseline)
    return max((one.resolution for one in compared), default=None)
