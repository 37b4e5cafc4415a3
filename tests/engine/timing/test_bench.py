"""A benchmark by its messages: on a machine whose true times are known, with sides that behave as scripted."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError, WireError
from engine.model import CacheState, Outcome
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


async def test_chunks_are_ordered_a_b_b_a_with_mirrored_baselines(make_lab):
    lab = make_lab(baselines={"eager": {}, "cublas": {}})
    await lab.run(baselines=("eager", "cublas"))
    singles = [name for name, how, _ in lab.device.log if how == "single"]
    last_rounds = singles[-6 * 8 :]
    assert last_rounds == ["worker", "eager", "cublas", "cublas", "eager", "worker"] * 8


async def test_every_timed_call_gets_new_content(make_lab):
    lab = make_lab()  # the fake worker asserts it at every call
    await lab.run()
    assert lab.worker.chunks > 16


async def test_only_slots_of_next_chunk_are_filled(make_lab):
    lab = make_lab()
    await lab.run()
    called = [int(calls) for name, how, calls in lab.device.log if name == "worker" and how != "capture"]
    filled = [len(slots) for slots in lab.judge.refreshed]
    captures = sum(how == "capture" for name, how, _ in lab.device.log if name == "worker")
    unverified = 2 * 8  # both graphs are replayed eight times more for the clock alone, on what is there
    assert len(filled) == len(called) + captures - unverified
    assert max(filled) <= 128


async def test_chunk_sizes_are_unpredictable_and_fit_the_ring(make_lab):
    lab = make_lab(machine={"slots": 9})
    await lab.run()
    sizes = [int(calls) for name, how, calls in lab.device.log if name == "worker" and how == "single"]
    assert len(set(sizes[-16:])) >= 3
    assert max(sizes) <= 9


async def test_another_seed_gives_other_chunks(make_lab):
    sizes = []
    for seed in (1, 2):
        lab = make_lab(seed=seed)
        await lab.run()
        sizes.append([calls for name, how, calls in lab.device.log if name == "worker" and how == "single"])
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
    sizes = [int(calls) for name, how, calls in lab.device.log if name == "worker" and how == "single"]
    assert len(sizes) >= 16
    assert set(sizes[-16:]) <= {3, 4}


async def test_slow_ring_is_shortened(make_lab):
    lab = make_lab(device_us=20_000.0, baselines={}, machine={"slots": 200})
    case = await lab.run(baselines=())
    assert case.slots < 50
    assert case.elapsed_s < 5.0


async def test_compiling_first_call_takes_no_time_of_others(make_lab):
    lab = make_lab(first_call_s=5.0)
    quick = make_lab()
    assert (await lab.run()).calls == pytest.approx((await quick.run()).calls, rel=0.2)


async def test_clock_drift_does_not_enter_the_comparison(make_lab):
    lab = make_lab(device_us=20.0, baselines={"eager": {"device_us": 20.0}}, machine={"drift_by_s": 0.1})
    case = await lab.run()
    (comparison,) = case.comparisons
    assert comparison.standing is Standing.SAME
    assert comparison.speedup.value == pytest.approx(1.0, abs=0.01)


async def test_wrong_output_in_later_round_ends_case(make_lab):
    lab = make_lab(wrong_at_call=300)
    case = await lab.run()
    assert case.outcome is Outcome.WRONG_VALUE
    assert (case.timing, case.baselines, case.comparisons, case.floor) == (None, (), (), None)
    assert "verified cases passed, but call 300 at the timed shape was not" in case.message
    assert "3 of 4 elements differ" in case.message
    assert case.verified == 299 < case.calls


async def test_changed_memory_is_reported_as_such(make_lab):
    lab = make_lab(wrong_at_call=1)
    lab.judge.report_trouble = "bytes behind the output were overwritten"
    case = await lab.run()
    assert case.outcome is Outcome.MUTATED_INPUT
    assert "bytes behind the output were overwritten" in case.message


@pytest.mark.parametrize("factor", [0.3, 3.0], ids=["too short", "too long"])
async def test_device_times_contradicted_by_parent_are_suspect(make_lab, factor):
    lab = make_lab(device_us=40.0, claim_factor=factor)
    await lab.run()
    assert lab.raised()["wall_clock"] == "suspect"


@pytest.mark.parametrize(
    ("claim_factor", "old_content_factor", "reported"),
    [
        (0.3, 0.3, "but a replayed graph needs"),
        (1.0, 0.3, "us where its answers are verified, and 12.9 us where the replay is repeated"),
        (1.0, 1.6, "but a replayed graph needs"),
    ],
    ids=["only where it is verified", "less where it is repeated", "more where it is repeated"],
)
async def test_graph_working_in_one_replay_kind_is_suspect(make_lab, claim_factor, old_content_factor, reported):
    lab = make_lab(device_us=40.0, claim_factor=claim_factor, old_content_factor=old_content_factor, noise=0.0)
    await lab.run()
    (finding,) = lab.findings
    assert (finding.check, finding.severity.value) == ("wall_clock", "suspect")
    assert reported in finding.message


async def test_claim_contradicted_only_by_bursts_is_doubt(make_lab):
    lab = make_lab(device_us=40.0, claim_factor=0.3, capturable=False)
    await lab.run()
    (finding,) = lab.findings
    assert (finding.check, finding.severity.value) == ("wall_clock", "hint")
    assert "the device time is 12 us, but calls back to back take 37.9" in finding.message


async def test_claim_without_launches_or_graph_is_suspect(make_lab):
    lab = make_lab(device_us=600.0, claim_factor=0.3, capturable=False)
    await lab.run()
    assert lab.raised() == {"wall_clock": "suspect"}


async def test_short_kernel_with_slow_host_is_doubt_without_graph(make_lab):
    lab = make_lab(device_us=8.0, launch_us=60.0)
    await lab.run()
    assert lab.findings == []
    lab = make_lab(device_us=8.0, launch_us=60.0, capturable=False)
    await lab.run()
    assert lab.raised() == {"wall_clock": "hint"}


@pytest.mark.parametrize(("early_share", "raised"), [(0.03, {}), (1.0, {"other_streams": "suspect"})])
async def test_work_not_awaiting_callers_stream_is_suspect(make_lab, early_share, raised):
    lab = make_lab(early_share=early_share)
    await lab.run()
    assert lab.raised() == raised


async def test_contradicted_graph_time_is_replaced_by_parent_time(make_lab):
    lab = make_lab(device_us=100.0, claim_factor=0.2)
    case = await lab.run()
    assert case.timing.graph_us.value == pytest.approx(101.0, rel=0.1)
    assert any("by the parent's clock" in note for note in case.timing.notes)


async def test_graph_without_peaks_rules_nothing_out(make_lab):
    lab = make_lab(device_us=40.0, claim_factor=0.3)
    case = await lab.run(peaks=None)
    assert "wall_clock" not in lab.raised()
    assert any("peaks are not known" in note for note in case.timing.notes)
    assert case.floor is None


async def test_work_on_unjoined_stream_is_suspect(make_lab):
    lab = make_lab(device_us=60.0, stream_factor=0.1)
    await lab.run()
    assert lab.raised()["other_streams"] == "suspect"


async def test_kernels_that_start_after_the_call_are_named(make_lab):
    lab = make_lab(late=("hidden_kernel",))
    await lab.run()
    (finding,) = [finding for finding in lab.findings if finding.check == "after_return"]
    assert "hidden_kernel" in finding.message


async def test_late_kernels_are_named_in_wrong_case(make_lab):
    lab = make_lab(late=("hidden_kernel",), wrong_at_call=50)
    case = await lab.run()
    assert case.outcome is Outcome.WRONG_VALUE
    assert lab.raised() == {"after_return": "suspect"}


GEMM, ADD = "ampere_sgemm_32x32_sliced1x4_nn", "_ZN2at6native29vectorized_elementwise_kernelILi4EaddE"


@pytest.mark.parametrize(
    ("kernels_ns", "message"),
    [
        ({"softmax_kernel": 100}, None),
        ({"softmax_kernel": 100, GEMM: 10}, None),
        ({"softmax_kernel": 90, GEMM: 10}, f"10% of device time in timed calls is in library kernels: {GEMM}"),
        ({"softmax_kernel": 30, ADD: 70}, None),
        (
            {"softmax_kernel": 20, ADD: 80},
            f"80% of device time in timed calls is in PyTorch's kernels that compute: {ADD}",
        ),
        ({"own_gemm": 100}, None),
    ],
    ids=["own", "a little", "a library", "torch a little", "torch", "a name like a library's"],
)
async def test_timed_calls_without_own_kernels_are_suspect(make_lab, kernels_ns, message):
    lab = make_lab(kernels_ns=kernels_ns)
    await lab.run(own=frozenset({"softmax_kernel", "own_gemm"}))
    found = [finding for finding in lab.findings if finding.check == "timed_kernels"]
    assert [(finding.severity, finding.message) for finding in found] == ([("suspect", message)] if message else [])


async def test_graph_holding_library_kernels_is_suspect(make_lab):
    lab = make_lab(device_us=3.0, kernels_ns={GEMM: 0}, nodes=True)
    await lab.run()
    (finding,) = [finding for finding in lab.findings if finding.check == "timed_kernels"]
    assert finding.message == f"100% of the kernels in a graph of its calls is in library kernels: {GEMM}"


async def test_calls_without_device_work_are_suspect(make_lab):
    lab = make_lab(idle_share=0.3)
    await lab.run()
    assert lab.raised()["idle_calls"] == "suspect"


async def test_candidate_without_device_work_has_no_device_time(make_lab):
    lab = make_lab(idle_share=1.0)
    case = await lab.run()
    assert (case.timing.method, case.timing.device_us) == (None, None)
    assert case.comparisons == ()
    assert lab.raised()["idle_calls"] == "suspect"


async def test_chunk_done_in_first_call_is_suspect(make_lab):
    lab = make_lab(first_does_all=True)
    await lab.run()
    (finding,) = [finding for finding in lab.findings if finding.check == "uneven_calls"]
    assert finding.severity.value == "suspect"
    assert "work of several calls was done in one" in finding.message


async def test_graph_replaces_missing_cupti_and_is_reported(make_lab):
    missing = {"method": "", "reason": "no libcupti was found"}
    lab = make_lab(device_us=20.0, baselines={"eager": {"device_us": 40.0, **missing}}, **missing)
    case = await lab.run()
    assert case.timing.method is Method.GRAPH
    assert case.timing.device_us.value == pytest.approx(21.0, rel=0.05)
    (comparison,) = case.comparisons
    assert comparison.speedup.value == pytest.approx(40.0 / 21.0, rel=0.05)
    (finding,) = [finding for finding in lab.findings if finding.check == "timer"]
    assert finding.severity.value == "note"
    assert "by graph" in finding.message and "no libcupti was found" in finding.message


async def test_busy_parent_does_not_slow_graph_times(make_lab):
    missing = {"method": "", "reason": "no libcupti was found"}
    lab = make_lab(device_us=20.0, held_up_s=0.03, baselines={"eager": {"device_us": 40.0, **missing}}, **missing)
    case = await lab.run()
    assert case.timing.method is Method.GRAPH
    assert max(case.timing.samples_us) < 25.0
    assert case.timing.device_us.high < 22.0


async def test_events_replace_missing_cupti_and_graph(make_lab):
    missing = {"method": "", "reason": "no libcupti was found"}
    lab = make_lab(device_us=20.0, capturable=False, baselines={"eager": {"device_us": 40.0, **missing}}, **missing)
    case = await lab.run()
    assert case.timing.method is Method.EVENTS
    assert case.timing.device_us.value == pytest.approx(22.0, rel=0.05)
    assert any("it waits for the device" in note for note in case.timing.notes)
    assert "by events" in next(finding.message for finding in lab.findings if finding.check == "timer")


async def test_graph_failing_later_is_replaced_by_events(make_lab):
    lab = make_lab(method="", reason="no libcupti was found", graph_wrong_from=6)
    case = await lab.run()
    assert (case.outcome, case.timing.method) == (Outcome.PASS, Method.EVENTS)
    assert any("gives wrong answers" in note for note in case.timing.notes)


async def test_timer_lost_during_run_is_noted(make_lab):
    undisturbed = make_lab()
    await undisturbed.run()
    lab = make_lab(precise_until_chunk=undisturbed.worker.chunks - 4, reason="CUPTI dropped 3 records")
    case = await lab.run()
    assert case.timing.method is Method.CUPTI
    assert any("CUPTI dropped 3 records" in note for note in case.timing.notes)
    assert any("compared by events" in note for note in case.baselines[0].notes)


async def test_candidate_without_capture_has_no_graph_time(make_lab):
    lab = make_lab(capturable=False)
    case = await lab.run()
    assert case.outcome is Outcome.PASS
    assert case.timing.graph_us is None
    assert any("it waits for the device" in note for note in case.timing.notes)
    assert lab.findings == []


async def test_graph_with_wrong_output_is_noted(make_lab):
    lab = make_lab(graph_wrong_from=1)
    case = await lab.run()
    assert (case.outcome, case.timing.graph_us) == (Outcome.PASS, None)
    assert any("gives wrong answers" in note for note in case.timing.notes)


async def test_calls_sharing_outputs_have_no_partly_verified_times(make_lab):
    lab = make_lab(shared_outputs=True)
    case = await lab.run()
    assert case.outcome is Outcome.PASS
    assert case.verified < case.calls
    assert (case.timing.call_us, case.timing.graph_us) == (None, None)
    assert case.timing.device_us is not None
    assert [note.split(":")[0] for note in case.timing.notes] == ["no graph", "no time of a whole call"]
    assert lab.raised() == {"shared_outputs": "hint"}


async def test_calls_sharing_outputs_use_events_without_cupti(make_lab):
    lab = make_lab(shared_outputs=True, method="", reason="no libcupti was found")
    case = await lab.run()
    assert (case.outcome, case.timing.method) == (Outcome.PASS, Method.EVENTS)


async def test_second_worker_sharing_outputs_has_no_such_times(make_lab):
    lab = make_lab()
    case = await lab.run(other=lab.another(shared_outputs=True), baselines=())
    assert case.timing.call_us is not None and case.timing.graph_us is not None
    assert (case.baselines[0].call_us, case.baselines[0].graph_us) == (None, None)
    assert case.baselines[0].device_us is not None


async def test_missing_baseline_is_noted_and_others_continue(make_lab):
    lab = make_lab(baselines={"eager": {"device_us": 40.0}})
    case = await lab.run(baselines=("vllm", "eager"))
    assert [comparison.baseline for comparison in case.comparisons] == ["eager"]
    vllm, eager = case.baselines
    assert vllm.device_us is None and "vllm is not installed here" in vllm.notes[0]
    assert eager.device_us is not None


async def test_failing_baseline_loses_only_its_own_comparison(make_lab):
    failing = {"fails_from": 12, "fails_with": "out of memory"}
    lab = make_lab(baselines={"eager": failing, "cublas": {"device_us": 30.0}})
    case = await lab.run(baselines=("eager", "cublas"))
    assert case.outcome is Outcome.PASS
    assert [comparison.baseline for comparison in case.comparisons] == ["cublas"]
    assert any("out of memory" in note for note in case.baselines[0].notes)


async def test_a_baseline_that_became_slow_is_hinted_at(make_lab):
    lab = make_lab()
    await lab.run(stored=lambda case, baseline: 10.0 if (case, baseline) == (lab.case.name, "eager") else None)
    assert lab.raised() == {"slow_baseline": "hint"}


async def test_a_time_below_the_floor_is_suspect(make_lab):
    lab = make_lab(device_us=0.8)
    await lab.run()
    assert lab.raised()["faster_than_physics"] == "suspect"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ChildDiedError("killed by signal 11"), Outcome.CRASHED),
        (DeadlineError("no reply within 120 s"), Outcome.TIMEOUT),
        (WireError("not a reply"), Outcome.TAMPERED),
    ],
    ids=["death", "silence", "forgery"],
)
async def test_worker_failing_midway_ends_its_case(make_lab, error, outcome):
    lab = make_lab(dies_at_call=200)
    lab.worker.error = error
    case = await lab.run(cases=(lab.case, lab.second))
    assert case.outcome is outcome
    assert str(error) in case.message
    assert not lab.worker.alive


async def test_with_another_worker_the_next_case_is_timed(make_lab):
    lab = make_lab(dies_at_call=200)

    async def reload() -> Any:
        return lab.another()

    await lab.bench(cases=(lab.case, lab.second), reload=reload).run()
    assert [case.outcome for case in lab.cases] == [Outcome.PASS, Outcome.PASS]


async def test_worker_dying_twice_in_case_has_crashed(make_lab):
    lab = make_lab(dies_at_call=200)
    workers = iter((lab.another(dies_at_call=200), lab.another()))

    async def reload() -> Any:
        return next(workers)

    await lab.bench(cases=(lab.case, lab.second), reload=reload).run()
    assert [case.outcome for case in lab.cases] == [Outcome.CRASHED, Outcome.PASS]


@pytest.mark.parametrize(
    "asked",
    [protocol.Arrange, protocol.Refresh, protocol.Check, protocol.PrepareBaseline, protocol.TimeBaseline],
    ids=lambda asked: asked.__name__,
)
async def test_judge_dying_once_while_timing_loses_no_case(make_lab, asked):
    lab = make_lab()
    lab.judge.fails[asked] = ChildDiedError("killed by signal 9")
    lab.judge.fails_from[asked] = lab.judge.fails_to[asked] = 1
    case = await lab.run()
    assert (case.outcome, case.message) == (Outcome.PASS, "")
    assert case.timing is not None


async def test_entry_raising_at_timed_shape_keeps_worker(make_lab):
    lab = make_lab()
    lab.worker.script.fails_with = "illegal shape"
    bench = lab.bench(cases=(lab.case, lab.second))
    await bench.run()
    assert [case.outcome for case in lab.cases] == [Outcome.RUNTIME_ERROR] * 2
    assert "at this shape (single): illegal shape" in lab.cases[0].message
    assert bench.summaries() == ()


async def test_reply_about_fewer_calls_is_tampering(make_lab):
    lab = make_lab(reports_fewer=True)
    assert (await lab.run()).outcome is Outcome.TAMPERED


async def test_impossible_times_are_suspect_without_number(make_lab):
    lab = make_lab(claim_factor=0.0)
    case = await lab.run()
    assert case.timing.device_us is None
    assert case.comparisons == ()
    assert lab.raised()["impossible_times"] == "suspect"


@pytest.mark.parametrize("command", [protocol.Arrange, protocol.Refresh, protocol.Check])
async def test_failing_judge_is_never_candidate_error(make_lab, command):
    lab = make_lab()
    lab.judge.fails[command] = protocol.Failed(id="", kind=protocol.FailureKind.ENGINE, message="an assertion failed")
    lab.judge.fails_from[command] = 1 if command is protocol.Arrange else 9
    case = await lab.run()
    assert case.outcome is Outcome.ENGINE_ERROR
    assert "an assertion failed" in case.message
    assert lab.worker.alive


@pytest.mark.parametrize("command", [protocol.Arrange, protocol.Refresh, protocol.Check, protocol.TimeBaseline])
async def test_dying_judge_is_never_candidate_error(make_lab, command):
    lab = make_lab()
    lab.judge.fails[command] = ChildDiedError("the judge ended")
    lab.judge.fails_from[command] = 1 if command is protocol.Arrange else 9
    case = await lab.run()
    assert case.outcome is Outcome.ENGINE_ERROR
    assert lab.worker.alive


async def test_case_too_large_for_device_is_unsupported(make_lab):
    lab = make_lab()
    message = "4 input sets of 20 GB do not fit"
    lab.judge.fails[protocol.Arrange] = protocol.Failed(id="", kind=protocol.FailureKind.UNSUPPORTED, message=message)
    case = await lab.run()
    assert case.outcome is Outcome.UNSUPPORTED
    assert message in case.message


async def test_no_cases_are_no_messages_and_no_summaries(make_lab):
    lab = make_lab()
    bench = lab.bench(cases=())
    await bench.run()
    assert (lab.cases, lab.findings, lab.judge.asked, bench.summaries()) == ([], [], {}, ())


@pytest.mark.parametrize(("end_s", "timed"), [(0.0, 1), (1.9, 1), (2.1, 2), (2.9, 2), (math.inf, 3)])
async def test_only_first_case_may_end_too_late(make_lab, end_s, timed):
    lab = make_lab()
    cases = (lab.case, replace(lab.case, name="second"), replace(lab.case, name="third"))
    began = lab.device.clock()
    bench = lab.bench(cases=cases, case_s=1.0)
    await bench.run(end_s=began + end_s * await a_case_s(make_lab))
    assert [case.case for case in lab.cases] == [case.name for case in cases[:timed]]
    assert bench.left_out == cases[timed:]
    assert [(summary.cases, summary.planned) for summary in bench.summaries()] == [(timed, 3)]


async def a_case_s(make_lab: Any) -> float:
    """What the first case takes, as the benchmark itself tells."""
    return (await make_lab().run(case_s=1.0)).elapsed_s


@pytest.mark.parametrize("after", [1, 5, 40, 200])
async def test_a_cancelled_benchmark_leaves_nothing_arranged(make_lab, after):
    lab = make_lab()
    running = asyncio.create_task(lab.bench().run())
    lab.judge.cancel_at = (after, running)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not lab.device.arranged
    assert lab.device.occupied == 0
    assert lab.cases == []


async def test_second_worker_is_timed_in_same_interleaving(make_lab):
    lab = make_lab(device_us=20.0)
    case = await lab.run(other=lab.another(device_us=20.6), baselines=())
    (comparison,) = case.comparisons
    assert (comparison.baseline, comparison.standing) == ("other", Standing.FASTER)
    assert comparison.speedup.value == pytest.approx(1.03, abs=0.01)
    singles = [name for name, how, _ in lab.device.log if how == "single"]
    assert singles[-4 * 8 :] == ["worker", "another", "another", "worker"] * 8


async def test_dying_second_worker_loses_only_its_comparison(make_lab):
    lab = make_lab()
    case = await lab.run(other=lab.another(dies_at_call=150), baselines=("eager",))
    assert case.outcome is Outcome.PASS
    assert [comparison.baseline for comparison in case.comparisons] == ["eager"]
    assert "crashed" in case.baselines[0].notes[0]


async def test_forty_self_comparisons_show_almost_no_difference(make_lab):
    covered = 0
    for seed in range(40):
        lab = make_lab(seed=seed, noise=0.03)
        case = await lab.run(other=lab.another(noise=0.03), baselines=())
        covered += case.comparisons[0].speedup.low <= 1.0 <= case.comparisons[0].speedup.high
    assert covered >= 37


async def test_warm_slots_fit_into_the_cache(make_lab):
    lab = make_lab(machine={"slots": 64, "stride": 2 << 20, "l2_bytes": 50 << 20})
    case = await lab.run(cache=CacheState.WARM)
    assert case.cache is CacheState.WARM
    bursts = {int(calls) for name, how, calls in lab.device.log if name == "worker" and how == "burst"}
    replays = {int(calls) for name, how, calls in lab.device.log if name == "worker" and how == "replay"}
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
