"""Tapes of verified calls are used if they are whole and agree; others are made."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from engine import protocol
from engine.model import Case, CaseResult, Determinism, DType, Limits, Outcome, OutputReport, Plan, Tier
from engine.model.proof import CaseProof, Gap
from engine.probes.lab.case_session import CallContent, Lab, PassedCase
from engine.protocol.proof.tape import Given, Tape, TapedStorage
from engine.replay.agreement import Agreement, Disagreement
from engine.run.proving.taped_calls import CallOutputs, CallTaper, ComparedTapes, _verified_tapes
from tests.engine.replay.tapes import launch_record
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
    passed = PassedCase(case=CASE, result=RESULT, launches=(), tapes=(whole, other))
    assert _verified_tapes(passed) == [WHOLE, *expected]
    assert list(tmp_path.iterdir()) == []


def test_lines_of_torch_are_collected_also_for_what_no_output_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    unneeded = Given(storage=0, operator="aten::silu", line=7, data=b"1")
    tape = msgspec.structs.replace(WHOLE, storages=(TapedStorage(bytes=1),), steps=(unneeded,))
    calls = _Calls(monkeypatch, cases=1)
    assert calls.tapes_of._needed(tape).steps == ()
    assert calls.torch_lines == {7}


def test_case_without_tapes_has_none() -> None:
    assert _verified_tapes(PassedCase(case=CASE, result=RESULT, launches=())) == []


DIGEST = "d" * 64
RIGHT = protocol.Compared(
    id="c", reports=(OutputReport(name="return", outcome=Outcome.PASS),), repeated=None, mutated=None,
    outputs_digest="e" * 64,
)  # fmt: skip


class _Calls:
    """Tapes of a run with so many cases, whose further calls leave the tapes `again` in turn; `made` are their numbers.

    The judge's answer to each comparison of their outputs is `compared`.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *,
        cases: int,
        again: Tape | tuple[Tape, ...] = WHOLE,
        compared: protocol.Compared | str = RIGHT,
        determinism: Determinism = Determinism.EXACT,
    ) -> None:
        self.made: list[int] = []
        self.compared = compared
        self.seeds: list[int] = []
        problem = replace(toy_problem(CASE), determinism=determinism)
        left = itertools.cycle(again if isinstance(again, tuple) else (again,))
        lab = SimpleNamespace(
            plan=Plan(problem=problem, cases=(CASE,), device="cuda", target=None), problem=problem,
            passed=(None,) * cases, at=self._at, limits=Limits(), torch_lines=set(),
        )  # fmt: skip
        self.torch_lines: set[int] = lab.torch_lines
        self.tapes_of = CallTaper(cast("Lab", lab))

        async def taped(
            session: object, *, poison: int, content: CallContent | None
        ) -> tuple[Tape, tuple[protocol.ReturnedSpec, ...]]:
            if content is not None and content.seed is not None:
                self.seeds.append(content.seed)
            self.made.append(len(self.made))
            return next(left), ()

        monkeypatch.setattr(self.tapes_of, "_taped", taped)

    @contextlib.asynccontextmanager
    async def _at(self, case: Case, *, poison: int, seed: int) -> AsyncIterator[object]:
        self.seeds.append(seed)
        yield SimpleNamespace(case=case, compare=self._compare)

    async def _compare(self, returned: protocol.Returned) -> protocol.Compared | str:
        return self.compared

    async def of_case(
        self, folder: Path, *tapes: Tape, seed: int | None = 1, digest: str | None = DIGEST
    ) -> ComparedTapes | CaseProof:
        """The tapes of a case whose verified calls left these."""
        paths = tuple(folder / f"{number}.tape" for number in range(len(tapes)))
        for path, tape in zip(paths, tapes, strict=True):
            path.write_bytes(msgspec.json.encode(tape))
        passed = PassedCase(case=CASE, result=replace(RESULT, seed=seed), launches=(), tapes=paths, digest=digest)
        return await self.tapes_of.of_case(passed)

    async def tapes(
        self, folder: Path, *tapes: Tape, seed: int | None = 1, digest: str | None = DIGEST
    ) -> ComparedTapes:
        """The calls of a case that is not called wrong."""
        calls = await self.of_case(folder, *tapes, seed=seed, digest=digest)
        assert isinstance(calls, ComparedTapes)
        return calls


OTHER = Tape(storages=(TapedStorage(bytes=4),), specialisations=(), steps=(), returned=())


async def test_agreeing_tapes_of_verified_calls_need_no_further_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    monkeypatch.setattr(calls.tapes_of, "_is_called_again", lambda: False)
    taken = await calls.tapes(tmp_path, WHOLE, WHOLE)
    assert (taken.other, taken.tape, taken.seed, calls.made) == (WHOLE, WHOLE, 1, [])
    assert taken.outputs == CallOutputs(seed=1, digest=DIGEST)


async def test_outputs_are_those_of_the_verified_call_if_a_further_one_agrees_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    taken = await calls.tapes(tmp_path, WHOLE)
    assert (taken.outputs, taken.seed, calls.made) == (CallOutputs(seed=1, digest=DIGEST), calls.seeds[0], [0])


async def test_outputs_are_those_of_a_further_call_if_it_disagrees_with_the_verified_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    taken = await calls.tapes(tmp_path, OTHER)
    assert (taken.outputs, taken.seed) == (CallOutputs(seed=calls.seeds[0], digest="e" * 64), calls.seeds[1])
    assert len(set(calls.seeds)) == 2


async def test_outputs_are_those_of_the_last_call_if_its_launches_get_other_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls(monkeypatch, cases=9)
    monkeypatch.setattr(calls.tapes_of, "_agreement", lambda *_: Agreement(difference=Disagreement.NONE, seeds=1))
    taken = await calls.tapes(tmp_path, WHOLE)
    assert (taken.outputs, taken.seed) == (CallOutputs(seed=calls.seeds[0], digest="e" * 64), calls.seeds[0])
    assert calls.made == [0]


@pytest.mark.parametrize(
    ("compared", "reason", "gap"),
    [
        (
            msgspec.structs.replace(RIGHT, reports=(OutputReport(name="y", outcome=Outcome.WRONG_VALUE, message="y"),)),
            "another call of this case is wrong: y",
            Gap.OTHER_INPUTS,
        ),
        (
            msgspec.structs.replace(RIGHT, mutated="input x was changed"),
            "another call of this case is wrong: input",
            Gap.OTHER_INPUTS,
        ),
        ("no file", "another call of this case failed: no file", Gap.UNSTEADY),
    ],
    ids=["wrong", "changed input", "no outputs"],
)
async def test_case_whose_further_call_is_wrong_is_not_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared: protocol.Compared | str, reason: str, gap: Gap
) -> None:
    proof = await _Calls(monkeypatch, cases=9, compared=compared).of_case(tmp_path, OTHER)
    assert isinstance(proof, CaseProof)
    assert (proof.gap, proof.reason[: len(reason)]) == (gap, reason)


@pytest.mark.parametrize(
    ("tapes", "seed", "again", "made"),
    [
        ((OTHER, WHOLE), 1, WHOLE, [0]),
        ((WHOLE,), 1, WHOLE, [0]),
        ((), 1, WHOLE, [0, 1]),
        ((WHOLE, WHOLE), None, WHOLE, [0, 1]),
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


FOR_MULTIPLE_OF_16 = msgspec.structs.replace(WHOLE, specialisations=(launch_record(),))


@pytest.mark.parametrize(
    ("determinism", "agrees", "made"),
    [(Determinism.RANDOM, True, [0, 1]), (Determinism.EXACT, False, [0, 1, 2])],
    ids=["random", "exact"],
)
async def test_call_of_random_operator_is_compared_with_one_of_its_specialisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, determinism: Determinism, agrees: bool, made: list[int]
) -> None:
    calls = _Calls(monkeypatch, cases=9, again=(FOR_MULTIPLE_OF_16, WHOLE), determinism=determinism)
    taken = await calls.tapes(tmp_path, WHOLE)
    assert (taken.agree, calls.made) == (agrees, made)


def test_every_case_of_a_small_run_and_one_in_eight_of_others_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = _Calls(monkeypatch, cases=8), _Calls(monkeypatch, cases=9)
    assert {few.tapes_of._is_called_again() for _ in range(100)} == {True}
    drawn = iter(range(8))
    monkeypatch.setattr(many.tapes_of._draws, "number", lambda purpose, *, bits: next(drawn) % 2**bits)
    assert [many.tapes_of._is_called_again() for _ in range(8)] == [True] + [False] * 7
