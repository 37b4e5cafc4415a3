"""Which variant of a grid may be proposed: only what was measured to be faster than the file as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.model import CacheState, CompiledKernel, Launch, Outcome, Verdict
from engine.model.benchmark import CANDIDATE, CaseBenchmark, Interval, Summary, Timing
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    Event,
    KernelCompiled,
    RunFinished,
    RunStarted,
)
from engine.reports.reducer import record_of
from engine.tuning.trials import AS_IT_IS, Trial, plain_trial, proposed, trial_rows, why_none
from engine.tuning.tunables import Variant

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)
KERNEL = CompiledKernel(
    launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.1, registers=40, spill_bytes=0, shared_bytes=1024
)


def timed(device_us: tuple[float, float, float] | None) -> CaseBenchmark:
    """A case that was timed; None where the device told no time."""
    reported = Interval(value=device_us[0], low=device_us[1], high=device_us[2]) if device_us else None
    timing = Timing(side=CANDIDATE, method=None, device_us=reported, call_us=None)
    return CaseBenchmark(case="a", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=0.1, timing=timing)


def trial(
    name: str,
    speedup: tuple[float, float, float] | None = None,
    *,
    outcome: Outcome = Outcome.PASS,
    flagged: bool = False,
    cases: int = 2,
    baseline: str = "eager",
    device_us: Sequence[tuple[float, float, float] | None] = (None,),
) -> Trial:
    """A run of a variant; `speedup` is value, low and high against eager over `cases` of two."""
    events: list[Event] = [
        RunStarted(
            at_s=0.0, problem="toy::twice", digest="d" * 64, device="cuda", device_name="A GPU", target="sm_90", cases=1
        ),
        KernelCompiled(at_s=0.1, number=1, total=1, kernel=KERNEL),
    ]
    if speedup is not None:
        value, low, high = speedup
        whole = Summary(
            baseline=baseline, speedup=Interval(value=value, low=low, high=high), cases=cases, planned=2, fast={}
        )
        events += [
            *(CaseBenchmarked(at_s=0.2, number=1, total=2, benchmark=timed(one)) for one in device_us),
            BenchmarkSummarised(at_s=0.3, summaries=(whole,)),
        ]
    verdict = Verdict(outcome=outcome, sentence="as prepared", passed=1, total=1, flagged=flagged)
    run = record_of((*events, RunFinished(at_s=0.4, verdict=verdict)), file="k.py", number=7)
    return Trial(variant=Variant(name=name, source=name.encode()), run=run)


def test_resources_are_unknown_when_kernels_were_left_out() -> None:
    whole = trial(AS_IT_IS)
    assert whole.registers is not None
    partial = replace(whole, run=replace(whole.run, kernels_planned=len(whole.run.kernels) + 1))
    assert (partial.registers, partial.shared_bytes, partial.occupancy_percent) == (None, None, None)


def test_fastest_variant_faster_than_file_is_proposed() -> None:
    trials = (trial(AS_IT_IS, (1.0, 0.9, 1.1)), trial("B=1", (1.3, 1.2, 1.4)), trial("B=2", (1.5, 1.4, 1.6)))
    winner = proposed(trials)
    assert winner is not None
    assert winner.variant.name == "B=2"


@pytest.mark.parametrize(
    ("current", "other", "why"),
    [
        (
            trial(AS_IT_IS, (1.0, 0.9, 1.1)),
            trial("B=1", (1.15, 1.05, 1.2)),
            "no variant was measured to be faster than the baseline",
        ),
        (
            trial(AS_IT_IS, (1.0, 0.9, 1.1)),
            trial("B=1", (1.5, 1.4, 1.6), flagged=True),
            "no variant was measured to be faster than the baseline",
        ),
        (
            trial(AS_IT_IS, (1.0, 0.9, 1.1)),
            trial("B=1", (1.5, 1.4, 1.6), cases=1),
            "no variant was measured to be faster than the baseline",
        ),
        (
            trial(AS_IT_IS, (1.0, 0.9, 1.1), outcome=Outcome.WRONG_VALUE),
            trial("B=1", (1.5, 1.4, 1.6)),
            "the baseline was not timed in all cases, so no variant can be called faster",
        ),
        (
            trial(AS_IT_IS),
            trial("B=1"),
            "nothing was timed on this device, so no variant is proposed: resource usage alone does not predict speed",
        ),
        (
            trial(AS_IT_IS, outcome=Outcome.CRASHED),
            trial("B=1", outcome=Outcome.WRONG_VALUE),
            "no variant passed, so none is proposed",
        ),
    ],
    ids=["within the interval", "flagged", "a case is missing", "the file is wrong", "not timed", "all wrong"],
)
def test_nothing_is_proposed_without_evidence(current: Trial, other: Trial, why: str) -> None:
    assert (proposed((current, other)), why_none((current, other))) == (None, why)


def test_each_trial_is_row_with_known_values() -> None:
    rows = trial_rows((trial(AS_IT_IS, (1.0, 0.9, 1.1)), trial("B=1", outcome=Outcome.WRONG_VALUE)))
    assert rows == [
        ("variant", "run", "verdict", "registers", "spilled B", "shared B", "occupancy", "x eager"),
        ("as it is", "#7", "pass", "40", "0", "1,024", "75%", "1.00 (0.90 to 1.10)"),
        ("B=1", "#7", "wrong_value", "40", "0", "1,024", "75%", "-"),
    ]


def test_unmeasured_value_is_null_in_document() -> None:
    plain = plain_trial(trial("B=1"))
    assert (plain["variant"], plain["registers"], plain["speedup"], plain["baseline"]) == ("B=1", 40, None, None)


def test_ratio_to_file_covers_both_intervals() -> None:
    ratio = trial("B=1", (1.5, 1.2, 1.8)).ratio_to(trial(AS_IT_IS, (1.0, 0.8, 1.2)))
    assert ratio == Interval(value=1.5, low=1.2 / 1.2, high=1.8 / 0.8)


@pytest.mark.parametrize(
    "other", [trial("B=1"), trial("B=1", (1.5, 1.4, 1.6), baseline="compile")], ids=["not timed", "another baseline"]
)
def test_variant_with_other_baseline_has_no_ratio(other: Trial) -> None:
    current = trial(AS_IT_IS, (1.0, 0.9, 1.1))
    assert (other.ratio_to(current), proposed((current, other))) == (None, None)


def test_device_time_is_geometric_mean_over_cases() -> None:
    timed = trial("B=1", (1.5, 1.4, 1.6), device_us=((2.0, 1.0, 3.0), (8.0, 4.0, 12.0)))
    assert timed.device_us is not None
    assert [round(us, 6) for us in (timed.device_us.value, timed.device_us.low, timed.device_us.high)] == [4, 2, 6]


@pytest.mark.parametrize("device_us", [(None,), ((2.0, 1.0, 3.0), None)], ids=["none", "one of two"])
def test_case_without_device_time_leaves_no_mean(device_us: tuple[Any, ...]) -> None:
    assert trial("B=1", (1.5, 1.4, 1.6), device_us=device_us).device_us is None
