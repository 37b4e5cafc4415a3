"""A benchmark by its messages: sides are interleaved and compared, on a machine whose true times are known."""

from __future__ import annotations

import pytest

from engine.model import Outcome
from engine.model.benchmark import Method, Standing


async def test_kernel_is_timed_without_findings(make_lab):
    lab = make_lab(device_us=20.0)
    case = await lab.run()
    assert case.outcome is Outcome.PASS
    assert case.timing.method is Method.CUPTI
    assert case.timing.device_us.low <= 20.0 * 1.01 and case.timing.device_us.high >= 20.0 * 0.99
    assert case.timing.call_us.value == pytest.approx(20.0, rel=0.1)
    assert case.timing.graph_us.value == pytest.approx(21.0, rel=0.1)
    assert case.timing.activities == 1
    assert case.floor.percent == pytest.approx(
        100 * 2.0 / case.timing.device_us.value
    )  # what is written fits into the cache
    assert case.verified == case.calls >= 8 * 2 * 3
    assert lab.findings == []
    assert lab.states == 2


async def test_candidate_is_timed_against_baseline_and_itself(make_lab):
    lab = make_lab(device_us=20.0)
    bench = lab.bench()
    await bench.run()
    (comparison,) = lab.cases[0].comparisons
    assert (comparison.baseline, comparison.standing) == ("eager", Standing.FASTER)
    assert comparison.speedup.value == pytest.approx(2.0, rel=0.02)
    assert lab.cases[0].ratio_to_self.value == pytest.approx(1.0, rel=0.02)
    (summary,) = bench.summaries()
    assert (summary.baseline, summary.cases, summary.planned) == ("eager", 1, 1)
    assert summary.fast == {"1.0": 1, "1.1": 1, "1.5": 1, "2.0": int(comparison.speedup.value >= 2.0)}


async def test_a_baseline_that_became_slow_is_hinted_at(make_lab):
    lab = make_lab()
    await lab.run(stored=lambda case, baseline: 10.0 if (case, baseline) == (lab.case.name, "eager") else None)
    assert lab.raised() == {"slow_baseline": "hint"}


async def test_no_cases_give_no_messages_or_summaries(make_lab):
    lab = make_lab()
    bench = lab.bench(cases=())
    await bench.run()
    assert (lab.cases, lab.findings, lab.judge.asked, bench.summaries()) == ([], [], {}, ())


async def test_second_worker_is_timed_in_same_interleaving(make_lab):
    lab = make_lab(device_us=20.0)
    case = await lab.run(other=lab.another(device_us=20.6), baselines=())
    (comparison,) = case.comparisons
    assert (comparison.baseline, comparison.standing) == ("other", Standing.FASTER)
    assert comparison.speedup.value == pytest.approx(1.03, abs=0.01)
    singles = [name for name, mode, _ in lab.device.log if mode == "single"]
    assert singles[-4 * 8 :] == ["worker", "another", "another", "worker"] * 8


async def test_forty_self_comparisons_show_almost_no_difference(make_lab):
    covered = 0
    for seed in range(40):
        lab = make_lab(seed=seed, noise=0.03)
        case = await lab.run(other=lab.another(noise=0.03), baselines=())
        covered += case.comparisons[0].speedup.low <= 1.0 <= case.comparisons[0].speedup.high
    assert covered >= 37


async def test_each_timed_case_has_the_tuning_budget(make_lab):
    lab = make_lab()
    bench = lab.bench(cases=(lab.case, lab.second), baselines=(), tuning_s=3.0)
    await bench.run()
    assert lab.worker.tuning_s == [3.0, 3.0]


async def test_untried_configurations_are_noted_beside_the_times(make_lab):
    note = "its autotuner tried 2 of 30 configurations within 3 s"
    case = await make_lab(notes=(note,)).run(tuning_s=3.0)
    assert note in case.timing.notes
