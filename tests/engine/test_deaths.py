"""A process of ours that dies is replaced and asked again: it never fails or flags a kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import events, wire
from engine.model import Outcome
from tests.engine.test_pipeline import CASES, Theatre, verdict

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

OF_THE_JUDGE = (wire.Describe, wire.Prepare, wire.Refill, wire.Take, wire.Compare, wire.Conclude, wire.Release)
ASKED = [
    *(("judge", command) for command in OF_THE_JUDGE), ("worker", wire.Load), ("worker", wire.Rehearse),
    ("worker", wire.Call), ("compiler", wire.Load), ("compiler", wire.Compile),
]  # fmt: skip


@pytest.fixture
def theatre(employ: Employ, tmp_path: Path) -> Theatre:
    return Theatre(employ, tmp_path)


def at_its_first(
    kind: str, asked: type[wire.AnyCommand], act: Callable[[], None]
) -> Callable[[str, wire.AnyCommand], wire.AnyReply | None]:
    """Act once, when a child of this kind gets this command for the first time."""
    left = [asked]

    def answer(of: str, command: wire.AnyCommand) -> wire.AnyReply | None:
        if left and of == kind and isinstance(command, left[0]):
            left.clear()
            act()
        return None

    return answer


@pytest.mark.parametrize(("kind", "asked"), ASKED, ids=[f"{kind}-{asked.__name__}" for kind, asked in ASKED])
@pytest.mark.parametrize("who", ["itself", "nursery"])
async def test_process_killed_once_leaves_the_verdict_right(
    theatre: Theatre, who: str, kind: str, asked: type[wire.AnyCommand]
) -> None:
    act = theatre.nest.lose_all if who == "nursery" else lambda: theatre.nest.die(theatre.nest.serving)
    theatre.changes = at_its_first(kind, asked, act)
    told = await theatre.run(*CASES, target="gfx942")
    assert theatre.commands(asked)
    results = [event.result for event in told if isinstance(event, events.CaseFinished)]
    assert sorted(result.case for result in results) == ["a", "b"]
    assert {result.outcome for result in results} == {Outcome.PASS}
    assert verdict(told) is Outcome.PASS
    assert verdict(await theatre.run(*CASES, target="gfx942")) is Outcome.PASS


@pytest.mark.parametrize("asked", [wire.Prepare, wire.Compare])
async def test_judge_killed_again_is_an_engine_error(theatre: Theatre, asked: type[wire.AnyCommand]) -> None:
    def die(kind: str, command: wire.AnyCommand) -> wire.AnyReply | None:
        if isinstance(command, asked):
            theatre.nest.die(theatre.nest.serving)
        return None

    theatre.changes = die
    told = await theatre.run(*CASES)
    results = [event.result for event in told if isinstance(event, events.CaseFinished)]
    assert [(result.case, result.outcome) for result in results] == [("a", Outcome.ENGINE_ERROR)]
    assert verdict(told) is Outcome.ENGINE_ERROR
    theatre.changes = lambda kind, command: None
    assert verdict(await theatre.run(*CASES)) is Outcome.PASS


async def test_candidate_that_ends_itself_again_has_crashed(theatre: Theatre) -> None:
    def die(kind: str, command: wire.AnyCommand) -> wire.AnyReply | None:
        if isinstance(command, wire.Call):
            theatre.nest.die(theatre.nest.serving)
        return None

    theatre.changes = die
    assert verdict(await theatre.run(*CASES)) is Outcome.CRASHED
    assert len(theatre.commands(wire.Call)) == 2 * len(CASES)
