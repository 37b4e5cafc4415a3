"""Timers of a benchmark: device activity, graphs, or events where neither is there."""

from __future__ import annotations

import pytest

from engine.model import Outcome
from engine.model.benchmark import Method

MISSING = {"method": "", "reason": "no libcupti was found", "unrecorded": "no libcupti was found"}


async def test_graph_replaces_missing_cupti_and_is_reported(make_lab):
    lab = make_lab(device_us=20.0, baselines={"eager": {"device_us": 40.0, **MISSING}}, **MISSING)
    case = await lab.run()
    assert case.timing.method is Method.GRAPH
    assert case.timing.device_us.value == pytest.approx(21.0, rel=0.05)
    (comparison,) = case.comparisons
    assert comparison.speedup.value == pytest.approx(40.0 / 21.0, rel=0.05)
    (finding,) = [finding for finding in lab.findings if finding.check == "timer"]
    assert finding.severity.value == "note"
    assert "by graph" in finding.message and "no libcupti was found" in finding.message


async def test_busy_parent_does_not_slow_graph_times(make_lab):
    lab = make_lab(device_us=20.0, held_up_s=0.03, baselines={"eager": {"device_us": 40.0, **MISSING}}, **MISSING)
    case = await lab.run()
    assert case.timing.method is Method.GRAPH
    assert max(case.timing.samples_us) < 25.0
    assert case.timing.device_us.high < 22.0


async def test_events_replace_missing_cupti_and_graph(make_lab):
    lab = make_lab(device_us=20.0, capturable=False, baselines={"eager": {"device_us": 40.0, **MISSING}}, **MISSING)
    case = await lab.run()
    assert case.timing.method is Method.EVENTS
    assert case.timing.device_us.value == pytest.approx(22.0, rel=0.05)
    assert any("it waits for the device" in note for note in case.timing.notes)
    assert "by events" in next(finding.message for finding in lab.findings if finding.check == "timer")


async def test_graph_failing_later_is_replaced_by_events(make_lab):
    lab = make_lab(**MISSING, graph_wrong_from=6)
    case = await lab.run()
    assert (case.outcome, case.timing.method) == (Outcome.PASS, Method.EVENTS)
    assert any("gives wrong answers" in note for note in case.timing.notes)


async def test_moment_without_evidence_of_the_record_changes_no_method(make_lab):
    undisturbed = make_lab()
    await undisturbed.run()
    for chunk in range(1, undisturbed.worker.chunks + 1):
        lab = make_lab(imprecise_chunks=frozenset({chunk}), reason="the clocks differ")
        case = await lab.run()
        assert (case.outcome, case.timing.method) == (Outcome.PASS, Method.CUPTI)


async def test_moment_without_evidence_for_a_baseline_changes_no_method(make_lab):
    for chunk in range(1, 12):
        lab = make_lab(baselines={"eager": {"device_us": 40.0, "imprecise_chunks": frozenset({chunk})}})
        case = await lab.run()
        assert (case.outcome, case.baselines[0].method) == (Outcome.PASS, Method.CUPTI)


async def test_record_that_is_never_evidence_is_an_engine_error(make_lab):
    lab = make_lab(method="", reason="the clocks differ")
    case = await lab.run()
    assert (case.outcome, case.timing) == (Outcome.ENGINE_ERROR, None)
    assert case.message == (
        "the device has no usable record of 3 further chunks of calls: the clocks differ; "
        "time again when nothing else uses the device"
    )


async def test_record_of_less_than_half_of_the_rounds_is_an_engine_error(make_lab):
    undisturbed = make_lab()
    await undisturbed.run()
    lost = frozenset(range(undisturbed.worker.chunks - 20, undisturbed.worker.chunks + 200))
    lab = make_lab(imprecise_chunks=lost, reason="the clocks differ")
    case = await lab.run()
    assert (case.outcome, case.timing) == (Outcome.ENGINE_ERROR, None)
    assert "the clocks differ; time again when nothing else uses the device" in case.message


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
    lab = make_lab(shared_outputs=True, **MISSING)
    case = await lab.run()
    assert (case.outcome, case.timing.method) == (Outcome.PASS, Method.EVENTS)


async def test_second_worker_sharing_outputs_has_no_such_times(make_lab):
    lab = make_lab()
    case = await lab.run(other=lab.another(shared_outputs=True), baselines=())
    assert case.timing.call_us is not None and case.timing.graph_us is not None
    assert (case.baselines[0].call_us, case.baselines[0].graph_us) == (None, None)
    assert case.baselines[0].device_us is not None
