"""The next case is prepared during the first call of a case that is expected to be right."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import (
    CandidateForm,
    Outcome,
    SuiteOrigin,
    Tier,
)
from tests.engine.run.stages.playing import PROBLEM, A, B, C, D, Setting, hold_until
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


@pytest.fixture
def setting(employ: Employ) -> Setting:
    return Setting(employ, target=None)


@pytest.fixture(params=[None, "sm_90"], ids=["cpu", "gpu"])
def on_both(request: pytest.FixtureRequest, employ: Employ) -> Setting:
    """A setting on the CPU, and one on a device."""
    return Setting(employ, target=request.param)


async def test_next_case_is_prepared_during_the_first_call(on_both: Setting) -> None:
    setting = on_both
    hold_until(setting, "b1", "prepare c")
    assert await asyncio.wait_for(setting.run(A, B, C), timeout=PATIENCE_S) is None
    assert [result.outcome for result in setting.results] == [Outcome.PASS] * 3
    assert [word for word in setting.asked if word.startswith("prepare")] == ["prepare a", "prepare b", "prepare c"]
    assert setting.prepared_at == {"a": 0, "b": 0, "c": 1}


async def test_new_content_is_made_in_advance_for_cases_that_are_called_on_it(on_both: Setting) -> None:
    setting = on_both
    smoke = replace(C, tier=Tier.SMOKE)
    hold_until(setting, "b1", "prepare c")
    commands: dict[str, bool] = {}
    play = setting._play

    def noted(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Prepare):
            commands[command.case] = command.fresh_ahead
        return play(kind, command)

    setting.fork_server.answer = noted
    assert await asyncio.wait_for(setting.run(A, B, smoke, D), timeout=PATIENCE_S) is None
    on_cpu = setting.process_pool.interpreted
    assert commands == {"a": False, "b": False, "c": True, "d": not on_cpu}


async def test_wrong_candidate_prepares_no_case_in_advance(setting: Setting) -> None:
    setting.wrong = {"a1"}
    await setting.run(A, B)
    assert setting.asked.index("prepare b") > setting.asked.index("release a")


async def test_preparation_for_an_ended_worker_is_made_again(setting: Setting) -> None:
    play = setting._play

    def break_context(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = play(kind, command)
        if setting.asked[-1:] == ["b2"]:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no", broken=True)
        return reply

    setting.fork_server.answer = break_context
    await setting.run(A, B, C)
    assert [result.outcome for result in setting.results] == [Outcome.PASS, Outcome.RUNTIME_ERROR, Outcome.PASS]
    assert setting.asked.count("prepare c") == 2


async def test_worker_that_ended_before_the_call_fails_its_case_alone(setting: Setting) -> None:
    def ends_worker(word: str) -> bool:
        if word == "prepare b":
            setting.fork_server.die(setting.worker)
        return True

    setting.on_ask = ends_worker
    await setting.run(A, B, C)
    assert [result.outcome for result in setting.results] == [Outcome.PASS, Outcome.CRASHED, Outcome.PASS]


async def test_failed_preparation_in_advance_is_made_again(setting: Setting) -> None:
    play = setting._play

    def fail_once(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = play(kind, command)
        if setting.asked[-1:] == ["prepare c"] and setting.asked.count("prepare c") == 1:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="no room for two")
        return reply

    setting.fork_server.answer = fail_once
    await setting.run(A, B, C)
    assert [result.outcome for result in setting.results] == [Outcome.PASS] * 3
    assert setting.asked.count("prepare c") == 2
    assert "release c" not in setting.asked  # it was not begun again


async def test_cases_of_foreign_problems_are_not_prepared_in_advance(setting: Setting) -> None:
    suite = SuiteOrigin(suite="suite", form=CandidateForm.FUNCTION, own_rule="")
    plan = replace(setting.verifier._plan, problem=replace(PROBLEM, suite=suite))
    setting.verifier._preparer._plan = plan
    await setting.run(A, B, C)
    assert setting.asked.index("prepare c") > setting.asked.index("b2")


async def test_cancelling_leaves_no_preparation_behind(setting: Setting) -> None:
    asked = asyncio.Event()

    def silent(word: str) -> bool:
        if word == "prepare c":
            asked.set()
        return word != "prepare c"

    setting.on_ask = silent
    running = asyncio.create_task(setting.run(A, B, C))
    await asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert [task for task in asyncio.all_tasks() if "_make" in repr(task.get_coro())] == []
