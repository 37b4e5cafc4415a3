"""Tapes of verified calls are used if they are whole and agree; others are made."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from engine.model import Case, CaseResult, DType, Limits, Outcome, Plan, Tier
from engine.probes.lab.case_session import CallContent, Lab, Passed
from engine.protocol.proof.tape import Tape, TapedStorage
from engine.run.proving.taped_calls import CallTapes, TapedCalls, _verified_tapes
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
    """Tapes of a run with so many cases, whose further calls leave the tape `again`; `made` are their numbers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, cases: int, again: Tape = WHOLE) -> None:
        self.made: list[int] = []
        problem = toy_problem(CASE)
        lab = SimpleNamespace(
            plan=Plan(problem=problem, cases=(CASE,), device="cuda", target=None), problem=problem,
            passed=(None,) * cases, at=lambda *_, **__: contextlib.nullcontext(), limits=Limits(),
        )  # fmt: skip
        self.tapes_of = CallTapes(cast("Lab", lab))

        async def taped(session: object, *, poison: int, content: CallContent | None) -> Tape:
            self.made.append(len(self.made))
            return again

        monkeypatch.setattr(self.tapes_of, "_taped", taped)

    async def tapes(self, folder: Path, *tapes: Tape, seed: int | None = 1) -> TapedCalls:
        """The tapes of a case whose verified calls left these."""
        paths = tuple(folder / f"{number}.tape" for number in range(len(tapes)))
        for path, tape in zip(paths, tapes, strict=True):
            path.write_bytes(msgspec.json.encode(tape))
        passed = Passed(case=CASE, result=replace(RESULT, seed=seed), launches=(), tapes=paths)
        calls = await self.tapes_of.of_case(passed)
        assert isinstance(calls, TapedCalls)
        return calls


OTHER = Tape(storages=(TapedStorage(bytes=4),), specialisations=(), steps=(), returned=())


async def test_agreeing_tapes_of_verified_calls_need_no_further_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    monkeypatch.setattr(calls.tapes_of, "_is_called_again", lambda: False)
    taken = await calls.tapes(tmp_path, WHOLE, WHOLE)
    assert (taken.other, taken.tape, taken.seed, calls.made) == (WHOLE, WHOLE, 1, [])


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
    monkeypatch.setattr(calls.tapes_of, "_is_called_again", lambda: again is OTHER)
    taken = await calls.tapes(tmp_path, *tapes, seed=seed)
    assert (taken.other, taken.tape, calls.made) == (again, again, made)


def test_every_case_of_a_small_run_and_one_in_eight_of_others_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = _Calls(monkeypatch, cases=8), _Calls(monkeypatch, cases=9)
    assert {few.tapes_of._is_called_again() for _ in range(100)} == {True}
    drawn = iter(range(8))
    monkeypatch.setattr(many.tapes_of._draws, "number", lambda purpose, *, bits: next(drawn) % 2**bits)
    assert [many.tapes_of._is_called_again() for _ in range(8)] == [True] + [False] * 7
