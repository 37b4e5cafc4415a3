"""A case is laid out by the judge while it is used, and forgotten afterwards, whatever happened."""

from __future__ import annotations

from typing import Any

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.processes.judge_requests import prepared_case

ARENA = protocol.ArenaSpec(storages=(), bytes=0)
PREPARED = protocol.Prepared(id="p", arguments=(), arena=ARENA, elapsed_s=0.0)
REFUSED = protocol.Failed(id="p", kind=protocol.FailureKind.PROBLEM, message="make_inputs raised")


class Judge:
    """Replies to a Prepare, and has exited when it is to release a case if it `exits`."""

    def __init__(self, reply: protocol.AnyReply, *, exits: bool = False) -> None:
        self.reply, self.exits = reply, exits
        self.released: list[int] = []

    async def ask_judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """The reply to a command."""
        if not isinstance(command, protocol.Release):
            return self.reply
        self.released.append(command.place)
        if self.exits:
            raise EngineError("the judge exited")
        return protocol.Released(id=command.id, seed=None)


def prepare(problem_id: Any = None) -> protocol.Prepare:
    return protocol.Prepare(id="p", problem=problem_id, case="small", arena_path=None, poison=0, place=2)


async def test_case_is_released_after_its_use() -> None:
    judge = Judge(PREPARED)
    async with prepared_case(judge, prepare()) as prepared:  # type: ignore[arg-type]
        assert (prepared, judge.released) == (PREPARED, [])
    assert judge.released == [2]


async def test_case_is_released_after_an_error() -> None:
    judge = Judge(PREPARED, exits=True)
    with pytest.raises(ZeroDivisionError):
        async with prepared_case(judge, prepare()):  # type: ignore[arg-type]
            raise ZeroDivisionError
    assert judge.released == [2]


async def test_refusal_of_the_judge_has_its_reason() -> None:
    judge = Judge(REFUSED)
    with pytest.raises(EngineError, match="could not make inputs of small: make_inputs raised"):
        async with prepared_case(judge, prepare()):  # type: ignore[arg-type]
            pass
    assert judge.released == [2]
