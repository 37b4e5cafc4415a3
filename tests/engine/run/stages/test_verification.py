"""Cases being judged: what is asked in which order, and whose word counts when two things happen at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import DeadlineError
from engine.model import (
    Outcome,
    Tier,
    events,
)
from engine.run.stages import verification
from engine.run.stages.verification import _unlink
from tests.engine.run.stages.playing import DIGEST, A, B, C, D, Setting, hold_until
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


@pytest.fixture
def setting(employ: Employ) -> Setting:
    return Setting(employ)


ONE_BY_ONE = ["a1", "compare a1", "refill", "a2", "compare a2", "refill", "a3", "compare a3", "release a"]


async def test_the_first_case_is_compared_call_by_call(setting: Setting) -> None:
    result = await setting.verify(A)
    assert (result.outcome, result.calls, result.seed) == (Outcome.PASS, 3, 4)
    assert setting.asked == ["prepare a", *ONE_BY_ONE]


async def test_one_call_per_case_is_observed_unpredictably(setting: Setting) -> None:
    for _ in range(40):
        await setting.verify(A)
    assert len(setting.observed) == 40
    assert set(setting.observed) == {"a1", "a2", "a3"}


@pytest.mark.parametrize(
    ("target", "tier", "taped", "last"),
    [
        (None, Tier.FULL, ["1.tape"], "a2"),
        (None, Tier.SMOKE, ["1.tape", "2.tape"], "a3"),
        ("sm_90", Tier.FULL, ["1.tape", "2.tape"], "a3"),
    ],
    ids=["cpu", "cpu smoke", "gpu"],
)
async def test_last_call_on_each_content_leaves_a_tape_and_the_last_one_a_digest(
    employ: Employ, target: str | None, tier: Tier, taped: list[str], last: str
) -> None:
    setting = Setting(employ, target=target)
    for _ in range(2):  # the tapes of the second time count alone
        await setting.verify(replace(A, tier=tier))
    tapes = setting.tapes[-len(taped) :]
    assert setting.verifier.tapes == {"a": tuple(map(Path, tapes))}
    assert (setting.hashed, setting.verifier.digests) == ([last, last], {"a": DIGEST})
    assert [tape.partition(".")[2] for tape in tapes] == taped
    await setting.session.clear()


async def test_calls_with_native_code_leave_no_tape(employ: Employ) -> None:
    setting = Setting(employ, has_native_code=True)
    await setting.verify(A)
    assert (setting.tapes, setting.verifier.tapes, setting.verifier.digests) == ([], {"a": ()}, {})
    await setting.session.clear()


async def test_passed_case_defers_comparison_of_snapshots(setting: Setting) -> None:
    await setting.verify(A)
    setting.asked.clear()
    result = await setting.verify(B)
    assert (result.outcome, result.calls, result.seed) == (Outcome.PASS, 3, 5)
    assert sorted(setting.asked) == sorted(
        ["prepare b", "b1", "take b1", "b2", "conclude b1", "take b2", "b3", "conclude b2", "take b3", "conclude b3"]
    )
    order = [setting.asked.index(word) for word in ("take b1", "conclude b1", "take b2", "conclude b2", "take b3")]
    assert order == sorted(order)


async def test_comparison_runs_during_the_next_call(setting: Setting) -> None:
    await setting.verify(A)
    hold_until(setting, "b2", "conclude b1")
    result = await asyncio.wait_for(setting.verify(B), timeout=PATIENCE_S)
    assert result.outcome is Outcome.PASS


async def test_last_comparison_runs_during_the_next_case(setting: Setting) -> None:
    hold_until(setting, "c1", "conclude b3")
    assert await asyncio.wait_for(setting.run(A, B, C), timeout=PATIENCE_S) is None
    assert [(result.case, result.outcome) for result in setting.results] == [(name, Outcome.PASS) for name in "abc"]
    assert setting.asked.index("prepare c") < setting.asked.index("conclude b3")


async def test_wrong_output_found_during_next_call_is_result(setting: Setting) -> None:
    await setting.verify(A)
    setting.wrong = {"b1"}
    result = await setting.verify(B)
    assert (result.outcome, result.message, result.calls, result.seed) == (
        Outcome.WRONG_VALUE,
        "b1 is wrong_value",
        1,
        4,
    )
    assert "take b2" not in setting.asked
    assert setting.asked[-1] == "release b"


async def test_wrong_later_call_is_reported_as_later(setting: Setting) -> None:
    await setting.verify(A)
    setting.wrong = {"b3"}
    result = await setting.verify(B)
    assert (result.outcome, result.calls) == (Outcome.WRONG_VALUE, 3)
    assert "new input in the same memory" in result.message


async def test_wrong_output_before_worker_death_is_result(setting: Setting) -> None:
    await setting.verify(A)
    setting.wrong, setting.breaks = {"b1"}, {"b2"}
    result = await setting.verify(B)
    assert (result.outcome, result.message, result.calls) == (Outcome.WRONG_VALUE, "b1 is wrong_value", 1)
    assert not setting.session.occupied


async def test_worker_death_after_right_call_is_crash(setting: Setting) -> None:
    await setting.verify(A)
    setting.breaks = {"b2"}
    result = await setting.verify(B)
    assert result.outcome is Outcome.CRASHED
    assert not setting.session.occupied


async def test_failing_call_after_right_one_is_result(setting: Setting) -> None:
    await setting.verify(A)
    play = setting._play

    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = play(kind, command)
        if setting.asked[-1:] == ["b2"]:
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.RAISED, message="no", trace="a trace\nValueError: no"
            )
        return reply

    setting.fork_server.answer = fail
    result = await setting.verify(B)
    assert (result.outcome, result.message, result.calls) == (Outcome.RUNTIME_ERROR, "no", 2)
    logged = [event.text for event in await setting.events() if isinstance(event, events.LogWritten)]
    assert logged == ["a trace\nValueError: no"]


async def test_case_after_wrong_one_is_compared_directly(setting: Setting) -> None:
    await setting.verify(A)
    setting.wrong = {"b2"}
    await setting.verify(B)
    setting.asked.clear()
    await setting.verify(C)
    assert setting.asked == [
        "prepare c",
        *(
            word.replace("a1", "c1").replace("a2", "c2").replace("a3", "c3").replace("release a", "release c")
            for word in ONE_BY_ONE
        ),
    ]


async def test_wrong_candidate_makes_no_extra_calls(setting: Setting) -> None:
    setting.wrong = {"a1", "b1", "c1"}
    await setting.run(A, B, C)
    assert [word for word in setting.asked if word[0] in "abc" and word[1:].isdigit()] == ["a1", "b1", "c1"]


async def test_only_the_first_wrong_cases_are_looked_into(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "_MOST_EXPLAINED", 2)
    setting.wrong = {"a1", "b1", "c1"}
    await setting.run(A, B, C, D)
    assert setting.explained == ["a1", "b1"]


async def test_cancelling_leaves_no_comparison_behind(setting: Setting) -> None:
    await setting.verify(A)
    asked = asyncio.Event()

    def silent(word: str) -> bool:
        if word in ("b2", "conclude b1"):
            asked.set()
        return word not in ("b2", "conclude b1")

    setting.on_ask = silent
    running = asyncio.create_task(setting.verifier.begin(B))
    await asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert [task for task in asyncio.all_tasks() if "_compare" in repr(task.get_coro())] == []


async def test_results_follow_case_order_with_their_numbers(setting: Setting) -> None:
    setting.wrong = {"c3"}
    assert await setting.run(A, B, C, D) is None
    emitted = [event for event in await setting.events() if isinstance(event, events.CaseFinished)]
    assert [(event.number, event.total, event.result.case, event.result.outcome) for event in emitted] == [
        (1, 4, "a", Outcome.PASS),
        (2, 4, "b", Outcome.PASS),
        (3, 4, "c", Outcome.WRONG_VALUE),
        (4, 4, "d", Outcome.PASS),
    ]


async def test_second_worker_death_skips_remaining_cases(setting: Setting) -> None:
    setting.breaks = {"b2", "c1"}
    stop = await setting.run(A, B, C, D)
    assert stop is not None
    assert stop.outcome is Outcome.CRASHED
    assert "; after 2 such cases, 1 other case was not run" in stop.message
    assert [result.case for result in setting.results] == ["a", "b", "c"]


async def test_second_death_in_last_case_omits_nothing(setting: Setting) -> None:
    setting.breaks = {"b2", "c1"}
    assert await setting.run(A, B, C) is None


async def test_case_begun_before_stop_is_not_reported(setting: Setting) -> None:
    def tampered(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.CompareSnapshot) and command.ends:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.TAMPERED, message="the file was cut short")
        return setting._play(kind, command)

    setting.fork_server.answer = tampered
    stop = await setting.run(A, B, C, D)
    assert stop is not None
    assert stop.outcome is Outcome.TAMPERED
    assert "c1" in setting.asked
    assert [result.case for result in setting.results] == ["a", "b"]


def test_folder_instead_of_arena_does_not_end_run(tmp_path: Path) -> None:
    (tmp_path / "case.in").mkdir()
    (tmp_path / "case.out").write_bytes(b"")
    _unlink(tmp_path / "case.in", tmp_path / "case.out")
    assert not (tmp_path / "case.out").exists()


async def test_call_after_timeout_has_ten_seconds_at_most(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: list[float] = []
    ask = setting.session.ask

    async def never(command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        if not isinstance(command, protocol.Call):
            return await ask(command, deadline_s=deadline_s)
        deadlines.append(deadline_s)
        raise DeadlineError(f"the worker timed out after {deadline_s:g} s")

    monkeypatch.setattr(setting.session, "ask", never)
    stop = await setting.run(A, B, C)
    assert stop is not None
    late = "while computing, the worker timed out after 10 s (infinite loop?)"
    assert stop.message == f"{late}; after 2 such cases, 1 other case was not run"
    assert deadlines == [60.0, 10.0]


async def test_a_tier_is_reported_with_its_last_case(setting: Setting) -> None:
    setting.wrong = {"b1"}
    await setting.run(replace(A, tier=Tier.SMOKE), B)
    finished = (events.CaseFinished, events.TierFinished)
    emitted = [event for event in await setting.events() if isinstance(event, finished)]
    assert [(type(event).__name__, getattr(event, "tier", None)) for event in emitted] == [
        ("CaseFinished", None),
        ("TierFinished", Tier.SMOKE),
        ("CaseFinished", None),
        ("TierFinished", Tier.FULL),
    ]
    tiers = [event for event in emitted if isinstance(event, events.TierFinished)]
    assert [(tier.passed, tier.total) for tier in tiers] == [(1, 1), (0, 1)]
