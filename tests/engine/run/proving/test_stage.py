"""Tapes of verified calls are used if they are whole and agree; a step that the engine failed at is made again."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from engine.errors import DeadlineError, EngineError, KilledError
from engine.model import Case, CaseResult, DType, Limits, Outcome, Plan, Tier
from engine.probes.lab.case_session import CallContent, Lab, Passed
from engine.protocol.proof.tape import Tape, TapedStorage
from engine.run.event_stream import EventEmitter
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.proving.stage import ProvingStage, TapedCalls, _verified_tapes, done_again
from tests.engine.toy_problem import toy_problem

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
RESULT = CaseResult(case="c", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0, calls=3, seed=1)
WHOLE = Tape(storages=(), specialisations=(), steps=(), returned=())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (msgspec.json.encode(WHOLE), [WHOLE]),
        (msgspec.json.encode(msgspec.structs.replace(WHOLE, incomplete="a call of more than 9 steps")), []),
        (b"{}", []),
        (None, []),
    ],
    ids=["whole", "incomplete", "no tape", "gone"],
)
def test_complete_verified_tapes_are_used(tmp_path: Path, content: bytes | None, expected: list[Tape]) -> None:
    whole, other = tmp_path / "c.1.tape", tmp_path / "c.2.tape"
    whole.write_bytes(msgspec.json.encode(WHOLE))
    if content is not None:
        other.write_bytes(content)
    passed = Passed(case=CASE, result=RESULT, launches=(), tapes=(whole, other))
    assert _verified_tapes(passed) == [WHOLE, *expected]
    assert list(tmp_path.iterdir()) == []


def test_case_without_tapes_has_none() -> None:
    assert _verified_tapes(Passed(case=CASE, result=RESULT, launches=())) == []


class _Calls:
    """A stage of a run with so many cases, whose further calls leave the tape `again`; `made` are their numbers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, cases: int, again: Tape = WHOLE) -> None:
        self.made: list[int] = []
        problem = toy_problem(CASE)
        lab = SimpleNamespace(
            plan=Plan(problem=problem, cases=(CASE,), device="cuda", target=None), problem=problem,
            passed=(None,) * cases, at=lambda *_, **__: contextlib.nullcontext(), limits=Limits(), process_pool=None,
        )  # fmt: skip
        emitter = EventEmitter(lambda: 0.0, started=0.0)
        processes = SimpleNamespace(kernels=None, replayer=None)
        self.stage = ProvingStage(lab=cast("Lab", lab), emitter=emitter, processes=cast("ReplayProcesses", processes))

        async def taped(session: object, *, poison: int, content: CallContent | None) -> Tape:
            self.made.append(len(self.made))
            return again

        monkeypatch.setattr(self.stage, "_taped", taped)

    async def tapes(self, folder: Path, *tapes: Tape, seed: int | None = 1) -> TapedCalls:
        """The tapes of a case whose verified calls left these."""
        paths = tuple(folder / f"{number}.tape" for number in range(len(tapes)))
        for path, tape in zip(paths, tapes, strict=True):
            path.write_bytes(msgspec.json.encode(tape))
        passed = Passed(case=CASE, result=replace(RESULT, seed=seed), launches=(), tapes=paths)
        calls = await self.stage._tapes(passed)
        assert isinstance(calls, TapedCalls)
        return calls


OTHER = Tape(storages=(TapedStorage(bytes=4),), specialisations=(), steps=(), returned=())


async def test_agreeing_tapes_of_verified_calls_need_no_further_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    monkeypatch.setattr(calls.stage, "_is_called_again", lambda: False)
    taken = await calls.tapes(tmp_path, WHOLE, WHOLE)
    assert (list(taken.tapes), taken.seed, calls.made) == ([WHOLE, WHOLE], 1, [])


@pytest.mark.parametrize(
    ("tapes", "seed", "again", "made"),
    [
        ((OTHER, WHOLE), 1, WHOLE, [0]),
        ((WHOLE,), 1, WHOLE, [0]),
        ((), 1, WHOLE, [0, 1]),
        ((WHOLE, WHOLE), None, WHOLE, [0]),
        ((WHOLE, WHOLE), 1, OTHER, [0, 1]),
    ],
    ids=["disagree", "one", "none", "no seed", "further calls disagree"],
)
async def test_further_calls_are_made_until_two_tapes_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tapes: tuple[Tape, ...], seed: int | None, again: Tape,
    made: list[int],
) -> None:  # fmt: skip
    calls = _Calls(monkeypatch, cases=9, again=again)
    monkeypatch.setattr(calls.stage, "_is_called_again", lambda: again is OTHER)
    taken = await calls.tapes(tmp_path, *tapes, seed=seed)
    assert (list(taken.tapes[-2:]), calls.made) == ([again, again], made)


def test_every_case_of_a_small_run_and_one_in_eight_of_others_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = _Calls(monkeypatch, cases=8), _Calls(monkeypatch, cases=9)
    assert {few.stage._is_called_again() for _ in range(100)} == {True}
    drawn = iter(range(8))
    monkeypatch.setattr(many.stage._draws, "number", lambda purpose, *, bits: next(drawn) % 2**bits)
    assert [many.stage._is_called_again() for _ in range(8)] == [True] + [False] * 7


@pytest.mark.parametrize(
    ("errors", "attempts", "result"),
    [
        ([], 1, "proven"),
        ([KilledError("the judge was killed")], 2, "proven"),
        ([KilledError("the judge was killed"), EngineError("no worker")], 3, "proven"),
        ([EngineError("no judge got ready")] * 8, 8, "no judge got ready"),
        ([DeadlineError("the judge did not answer in 60 s")], 1, "the judge did not answer in 60 s"),
    ],
    ids=["no error", "one death", "two deaths", "no engine", "deadline"],
)
async def test_work_is_done_again_after_a_death(errors: list[EngineError], attempts: int, result: str) -> None:
    left = list(errors)
    made = []

    async def work() -> str:
        made.append(len(left))
        if left:
            raise left.pop(0)
        return "proven"

    try:
        outcome = await done_again(work)
    except EngineError as error:
        outcome = str(error)
    assert (outcome, len(made)) == (result, attempts)
