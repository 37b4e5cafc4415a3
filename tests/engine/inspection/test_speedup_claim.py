"""A claim: how it is typed, and what a measurement does for it."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from engine.inspection.speedup_claim import Backing, Claim, hold, parse_claim
from engine.model import CacheState, Outcome
from engine.model.benchmark import CaseBenchmark, Comparison, Interval, Standing, Summary
from engine.reports.bench import Benchmarks

BASELINES = ("compile", "eager")


def measured(low: float, value: float, high: float, *, resolution: float = 0.01, cases: int = 3, doubt: str = ""):
    """Three cases against eager, and their mean."""
    speedup = Interval(value=value, low=low, high=high)
    comparison = Comparison(baseline="eager", speedup=speedup, resolution=resolution, standing=Standing.FASTER)
    timed = CaseBenchmark(
        case="a", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=1.0, comparisons=(comparison,)
    )
    summary = Summary(baseline="eager", speedup=speedup, cases=cases, planned=3, fast={})
    return Benchmarks(cases=(timed,), summaries=(summary,), kernels=(), doubt=doubt)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("2.3x", Claim(speedup=2.3)),
        ("2.3", Claim(speedup=2.3)),
        (" 2x ", Claim(speedup=2.0)),
        ("1.05×", Claim(speedup=1.05)),
        ("0.9x compile", Claim(speedup=0.9, baseline="compile")),
        ("2.3 eager", Claim(speedup=2.3, baseline="eager")),
    ],
)
def test_claim_is_speedup_over_a_baseline(text, claim):
    assert parse_claim(text, baselines=BASELINES) == claim


@pytest.mark.parametrize(
    "text",
    ["", "x", "fast", "-2x", "0x", "0", "2,3x", "2.x", "2.3xx", "1e3x", "nan", "inf", "2x eager now", "٢x", "2xeager"],
)
def test_malformed_claim_is_refused_with_an_example(text):
    with pytest.raises(UsageError) as reported:
        parse_claim(text, baselines=BASELINES)
    assert str(reported.value) == (
        f"invalid claim {text!r}: expected a speed-up above 0 such as 2.3x, "
        'or with its baseline in quotes, "2.3x eager"'
    )


def test_overlong_claim_is_refused():
    with pytest.raises(UsageError, match="invalid claim"):
        parse_claim("9" * 400, baselines=BASELINES)


def test_unknown_baseline_error_lists_known_ones():
    with pytest.raises(UsageError) as reported:
        parse_claim("2.3x torch", baselines=BASELINES)
    assert str(reported.value) == (
        "the claim '2.3x torch' names an unknown baseline, 'torch': use one of compile, eager"
    )


@pytest.mark.parametrize(
    ("low", "value", "high", "backing"),
    [
        (2.2, 2.25, 2.3, Backing.SUPPORTED),
        (2.2, 2.24, 2.28, Backing.SUPPORTED),  # 2.28 and one percent reach 2.3
        (2.2, 2.24, 2.27, Backing.NOT_SUPPORTED),
        (1.9, 1.92, 1.95, Backing.NOT_SUPPORTED),
        (2.31, 2.35, 2.4, Backing.SUPPORTED),  # 2.31 is no more than one percent above
        (2.33, 2.4, 2.5, Backing.EXCEEDED),
    ],
)
def test_interval_reaches_claim_within_the_resolution(low, value, high, backing):
    held = hold(Claim(speedup=2.3), measured(low, value, high), untimed="")
    assert (held.backing, held.resolution) == (backing, 0.01)
    assert held.measured == Interval(value=value, low=low, high=high)


def test_resolution_is_the_coarsest():
    assert hold(Claim(speedup=2.3), measured(1.9, 2.0, 2.1, resolution=0.1), untimed="").backing is Backing.SUPPORTED


def test_unsupported_claim_states_measured_interval():
    held = hold(Claim(speedup=2.3), measured(1.9, 1.92, 1.955), untimed="")
    assert held.sentence == (
        "the claim of 2.3x against eager is not supported: 1.920x measured [1.900, 1.955], at least 15.0% short"
    )
    assert held.shortfall == pytest.approx(0.15)


def test_supported_claim_states_its_resolution():
    held = hold(Claim(speedup=2.3), measured(2.2, 2.3, 2.4), untimed="")
    assert held.sentence == (
        "the claim of 2.3x against eager is supported: 2.300x measured [2.200, 2.400], resolution 1.0%"
    )
    assert held.shortfall is None


@pytest.mark.parametrize(
    ("claim", "benchmarks", "why"),
    [
        (Claim(speedup=2.0), Benchmarks(cases=(), summaries=(), kernels=()), "no clock here"),
        (Claim(speedup=2.0), measured(2.0, 2.1, 2.2, doubt="these times do not count"), "these times do not count"),
        (Claim(speedup=2.0), measured(2.0, 2.1, 2.2, cases=2), "only 2 of 3 cases were compared with eager"),
        (
            Claim(speedup=2.0, baseline="compile"),
            measured(2.0, 2.1, 2.2),
            "no case was compared with compile",
        ),
    ],
)
def test_unmeasured_claim_is_neither_supported_nor_refuted(claim, benchmarks, why):
    held = hold(claim, benchmarks, untimed="no clock here")
    assert held.backing is Backing.NOT_MEASURED
    assert held.sentence == f"the claim of 2x against {claim.baseline} was not measured: {why}"
    assert (held.measured, held.shortfall) == (None, None)


@pytest.mark.parametrize("speedup", [0.0, -1.0, float("inf"), float("nan")])
def test_nonpositive_claim_is_refused(speedup):
    with pytest.raises(ValueError, match="a speed-up is finite and above 0"):
        Claim(speedup=speedup)
