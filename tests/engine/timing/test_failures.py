"""Failures while timing: of the worker, the judge or a baseline, and what each costs the benchmark."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError, WireError
from engine.model import Outcome


async def test_wrong_output_in_later_round_ends_case(make_lab):
    lab = make_lab(wrong_at_call=300)
    case = await lab.run()
    assert case.outcome is Outcome.WRONG_VALUE
    assert (case.timing, case.baselines, case.comparisons, case.floor) == (None, (), (), None)
    assert "verified cases passed, but call 300 at the timed shape failed" in case.message
    assert "3 of 4 elements differ" in case.message
    assert case.verified == 299 < case.calls


async def test_changed_memory_is_reported_as_such(make_lab):
    lab = make_lab(wrong_at_call=1)
    lab.judge.report_trouble = "bytes behind the output were overwritten"
    case = await lab.run()
    assert case.outcome is Outcome.MUTATED_INPUT
    assert "bytes behind the output were overwritten" in case.message


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


async def test_worker_crashing_twice_in_case_is_crash(make_lab):
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
async def test_single_judge_death_while_timing_loses_no_case(make_lab, asked):
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


@pytest.mark.parametrize("after", [1, 5, 40, 200])
async def test_cancelled_benchmark_frees_its_slots(make_lab, after):
    lab = make_lab()
    running = asyncio.create_task(lab.bench().run())
    lab.judge.cancel_at = (after, running)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not lab.device.arranged
    assert lab.device.occupied == 0
    assert lab.cases == []


async def test_crashed_second_worker_loses_only_its_comparison(make_lab):
    lab = make_lab()
    case = await lab.run(other=lab.another(dies_at_call=150), baselines=("eager",))
    assert case.outcome is Outcome.PASS
    assert [comparison.baseline for comparison in case.comparisons] == ["eager"]
    assert "crashed" in case.baselines[0].notes[0]
