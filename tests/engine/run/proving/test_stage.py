"""What a case is proven by; a step that the engine failed at is made again."""

from __future__ import annotations

import pytest

from engine.errors import DeadlineError, EngineError, KilledError
from engine.run.proving.stage import done_again


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
