"""The tape of a verified call is used where it is whole; a step that the engine failed at is made again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.errors import DeadlineError, EngineError, KilledError
from engine.model import Case, CaseResult, DType, Outcome, Tier
from engine.probes.lab.case_session import Passed
from engine.protocol.proof.tape import Tape
from engine.run.proving.stage import _verified_tape, done_again

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
async def test_complete_verified_tape_is_used(tmp_path: Path, content: bytes | None, expected: list[Tape]) -> None:
    path = tmp_path / "c.tape"
    if content is not None:
        path.write_bytes(content)
    assert await _verified_tape(Passed(case=CASE, result=RESULT, launches=(), tape=path)) == expected
    assert not path.exists()


async def test_case_without_tape_has_none() -> None:
    assert await _verified_tape(Passed(case=CASE, result=RESULT, launches=())) == []


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
