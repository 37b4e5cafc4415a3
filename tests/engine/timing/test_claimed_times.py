"""Claims of the candidate's process about time: contradicted by the parent, by streams or by kernels."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.model import Outcome


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


async def test_short_kernel_without_graph_is_hint(make_lab):
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
    assert any("peaks are unknown" in note for note in case.timing.notes)
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


async def test_a_time_below_the_floor_is_suspect(make_lab):
    lab = make_lab(device_us=0.8)
    await lab.run()
    assert lab.raised()["faster_than_physics"] == "suspect"


async def test_impossible_times_are_suspect_without_number(make_lab):
    lab = make_lab(claim_factor=0.0)
    case = await lab.run()
    assert case.timing.device_us is None
    assert case.comparisons == ()
    assert lab.raised()["impossible_times"] == "suspect"
    assert lab.estimates == []


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
