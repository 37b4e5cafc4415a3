"""Rounds of a benchmark: the order and size of chunks, their content, and the number of calls."""

from __future__ import annotations

from itertools import groupby

import pytest

from engine.model import CacheState, Outcome
from engine.model.benchmark import Method, Standing


async def test_chunk_order_mirrors_baselines(make_lab):
    lab = make_lab(baselines={"eager": {}, "cublas": {}})
    await lab.run(baselines=("eager", "cublas"))
    singles = [name for name, mode, _ in lab.device.log if mode == "single"]
    last_rounds = singles[-6 * 8 :]
    assert last_rounds == ["worker", "eager", "cublas", "cublas", "eager", "worker"] * 8


async def test_every_timed_call_gets_new_content(make_lab):
    lab = make_lab()  # the fake worker asserts it at every call
    await lab.run()
    assert lab.worker.chunks > 16


async def test_only_slots_of_next_chunk_are_filled(make_lab):
    lab = make_lab()
    await lab.run()
    called = [int(calls) for name, mode, calls in lab.device.log if name == "worker" and mode != "capture"]
    filled = [len(slots) for slots in lab.judge.refreshed]
    captures = sum(mode == "capture" for name, mode, _ in lab.device.log if name == "worker")
    unverified = 2 * 8  # both graphs are replayed eight times more for the clock alone, on what is there
    assert len(filled) == len(called) + captures - unverified
    assert max(filled) <= 128


async def test_chunk_sizes_are_unpredictable_and_fit_the_ring(make_lab):
    lab = make_lab(machine={"slots": 9})
    await lab.run()
    sizes = [int(calls) for name, mode, calls in lab.device.log if name == "worker" and mode == "single"]
    assert len(set(sizes[-16:])) >= 3
    assert max(sizes) <= 9


async def test_another_seed_gives_other_chunks(make_lab):
    sizes = []
    for seed in (1, 2):
        lab = make_lab(seed=seed)
        await lab.run()
        sizes.append([calls for name, mode, calls in lab.device.log if name == "worker" and mode == "single"])
    assert sizes[0] != sizes[1]


@pytest.mark.parametrize(
    ("device_us", "slots", "least_calls", "longest_s"),
    [(3.0, 256, 1000, 2.5), (200.0, 64, 300, 2.5), (50_000.0, 4, 8 * 2, 7.0)],
    ids=["tiny", "medium", "50 ms"],
)
async def test_number_of_calls_follows_their_cost(make_lab, device_us, slots, least_calls, longest_s):
    lab = make_lab(device_us=device_us, baselines={"eager": {"device_us": device_us}}, machine={"slots": slots})
    case = await lab.run()
    assert case.outcome is Outcome.PASS
    assert case.calls >= least_calls
    assert case.elapsed_s <= longest_s
    assert case.timing.device_us.value == pytest.approx(device_us, rel=0.02)


async def test_slow_case_keeps_three_calls_and_eight_rounds(make_lab):
    lab = make_lab(device_us=15_000.0, baselines={"eager": {"device_us": 15_000.0}}, machine={"slots": 8})
    await lab.run(case_s=1.0)
    sizes = [int(calls) for name, mode, calls in lab.device.log if name == "worker" and mode == "single"]
    assert len(sizes) >= 16
    assert set(sizes[-16:]) <= {3, 4}


async def test_slow_ring_is_shortened(make_lab):
    lab = make_lab(device_us=20_000.0, baselines={}, machine={"slots": 200})
    case = await lab.run(baselines=())
    assert case.slots < 50
    assert case.elapsed_s < 5.0


async def test_slow_first_call_keeps_number_of_calls(make_lab):
    lab = make_lab(first_call_s=5.0)
    quick = make_lab()
    assert (await lab.run()).calls == pytest.approx((await quick.run()).calls, rel=0.2)


async def test_clock_drift_does_not_enter_the_comparison(make_lab):
    lab = make_lab(device_us=20.0, baselines={"eager": {"device_us": 20.0}}, machine={"drift_by_s": 0.1})
    case = await lab.run()
    (comparison,) = case.comparisons
    assert comparison.standing is Standing.SAME
    assert comparison.speedup.value == pytest.approx(1.0, abs=0.01)


async def test_warm_slots_fit_into_the_cache(make_lab):
    lab = make_lab(machine={"slots": 64, "stride": 2 << 20, "l2_bytes": 50 << 20})
    case = await lab.run(cache=CacheState.WARM)
    assert case.cache is CacheState.WARM
    bursts = {int(calls) for name, mode, calls in lab.device.log if name == "worker" and mode == "burst"}
    replays = {int(calls) for name, mode, calls in lab.device.log if name == "worker" and mode == "replay"}
    assert bursts == {1, 6}
    assert all(calls == 1 or calls % 6 == 0 for calls in replays)  # the same six again and again


async def test_first_burst_and_first_replay_do_not_count(make_lab):
    lab = make_lab(device_us=20_000.0, first_stretch_us=500_000.0)  # so slow that there are five of each
    timing = (await lab.run()).timing
    for interval in (timing.call_us, timing.graph_us):
        assert (interval.value, interval.high) == (pytest.approx(20_000.0, rel=0.05), pytest.approx(20_000.0, rel=0.05))


async def test_purpose_of_every_exchange_is_reported(make_lab):
    lab = make_lab()
    await lab.run()
    assert [doing for doing, _ in groupby(lab.work)][:3] == [
        "arranging slots",
        "while opening the slots",
        "preparing eager",
    ]
    assert "checking outputs" in lab.work


async def test_deadlines_shrink_with_measured_call_times(make_lab):
    lab = make_lab()
    await lab.run()
    assert lab.worker.deadlines_s[0] == 120.0
    assert lab.worker.deadlines_s[-2] == 10.0


async def test_first_rounds_give_an_estimate(make_lab):
    lab = make_lab(device_us=20.0)
    case = await lab.run()
    (estimate,) = lab.estimates
    assert (estimate.case, estimate.rounds, estimate.method) == (lab.case.name, 8, Method.CUPTI)
    assert estimate.device_us.value == pytest.approx(20.0, rel=0.02)
    (comparison,) = estimate.comparisons
    assert (comparison.baseline, comparison.standing) == ("eager", Standing.FASTER)
    assert case.timing.device_us != estimate.device_us  # the record has all rounds


async def test_estimate_precedes_bursts_and_graphs(make_lab):
    lab = make_lab()
    logged: list[set[str]] = []
    lab.case_estimated = lambda _: logged.append({how for _, how, _ in lab.device.log})
    await lab.run()
    assert logged == [{"single"}]


async def test_estimate_without_a_baseline_has_no_comparison(make_lab):
    lab = make_lab(baselines={})
    await lab.run(baselines=())
    (estimate,) = lab.estimates
    assert estimate.comparisons == ()


async def test_estimate_leaves_out_a_baseline_that_failed(make_lab):
    lab = make_lab(baselines={"eager": {"fails_with": "out of memory"}})
    await lab.run()
    (estimate,) = lab.estimates
    assert estimate.comparisons == ()


async def test_case_without_times_has_no_estimate(make_lab):
    lab = make_lab(wrong_at_call=1)
    await lab.run()
    assert lab.estimates == []
