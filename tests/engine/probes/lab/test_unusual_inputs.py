"""What the parent asks of judge and worker for one variant, and what it makes of their replies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from engine import protocol
from engine.errors import ChildDiedError, EngineError
from engine.model import Case, DType, Limits, Outcome, OutputReport, Tier
from engine.probes.lab.case_session import CaseSession
from engine.probes.lab.unusual_inputs import VariantCaller, VariantResult
from engine.protocol import FailureKind, Variant

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
RIGHT = OutputReport(name="return", outcome=Outcome.PASS)
WRONG = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, message="return: 3 of 4 wrong")
Reply = Callable[[protocol.AnyCommand], protocol.AnyReply | None]


def place(path: str = "", handle: str = "") -> protocol.ArenaSpec:
    return protocol.ArenaSpec(path=path, handle=handle, storages=(), bytes=256)


class Played:
    """A session whose judge and worker are played here; `reply` may answer otherwise, `asked` are the commands."""

    def __init__(self, folder: Path, *, handle: str = "") -> None:
        self.asked: list[protocol.AnyCommand] = []
        self.reply: Reply = lambda command: None
        self.renewed = 0
        self.arena = place(handle=handle) if handle else place(str(folder / "first.in"))
        lab = SimpleNamespace(
            process_pool=SimpleNamespace(ask_judge=self._answer),
            ask=self._answer,
            limits=Limits(),
            renew=self._renew,
            place=1,
            profile=SimpleNamespace(span=lambda name: contextlib.nullcontext()),
        )
        prepared = protocol.Prepared(id="p", arguments=(), arena=self.arena, elapsed_s=0.0)
        session = SimpleNamespace(lab=lab, case=CASE, prepared=prepared, outputs=folder / "first.out")
        self.varying = VariantCaller(cast(CaseSession, session))  # cast: the double at the seam

    async def _answer(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        self.asked.append(command)
        if (reply := self.reply(command)) is not None:
            return reply
        match command:
            case protocol.LayOutVariant():
                if command.arena_path is not None:
                    Path(command.arena_path).touch()
                    self.arena = place(command.arena_path)
                return protocol.VariantLaidOut(
                    id=command.id, arena=self.arena, changed="x[3] 1 became 2", kept=("table",)
                )
            case protocol.Call():
                return protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
            case protocol.PrepareVariant():
                return protocol.Done(id=command.id)
            case protocol.Compare():
                return protocol.Compared(id=command.id, reports=(RIGHT,), repeated=None, mutated=None)
        raise AssertionError(command)

    async def _renew(self) -> None:
        self.renewed += 1

    def replies(self, kind: type[protocol.AnyCommand], reply: protocol.AnyReply) -> None:
        self.reply = lambda command: reply if isinstance(command, kind) else None

    @property
    def calls(self) -> list[protocol.Call]:
        return [command for command in self.asked if isinstance(command, protocol.Call)]


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    played = Played(tmp_path)
    yield played
    played.varying.close()


def failed(kind: FailureKind, *, broken: bool = False) -> protocol.Failed:
    return protocol.Failed(id="f", kind=kind, message="no answer", broken=broken)


async def test_correct_output_reports_changed_and_kept_arguments(played: Played) -> None:
    answer = await played.varying.call(Variant.ONE_ELEMENT)
    assert answer == VariantResult(variant=Variant.ONE_ELEMENT, changed="x[3] 1 became 2", kept=("table",))
    assert answer.is_right
    assert [type(command) for command in played.asked] == [protocol.LayOutVariant, protocol.Call, protocol.Compare]


async def test_next_variant_is_prepared_during_the_call(played: Played) -> None:
    await played.varying.call(Variant.EQUAL, then=Variant.TINY)
    await played.varying.call(Variant.TINY, then=Variant.MOVED)
    await played.varying.call(Variant.MOVED, then=None)
    assert [command.variant for command in played.asked if isinstance(command, protocol.PrepareVariant)] == [
        Variant.TINY
    ]
    kinds = [type(command) for command in played.asked[:4]]
    assert (kinds[0], set(kinds[1:3]), kinds[3]) == (
        protocol.LayOutVariant,
        {protocol.Call, protocol.PrepareVariant},
        protocol.Compare,
    )


async def test_judge_death_while_preparing_is_engine_error(
    played: Played,
) -> None:
    def gone(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.PrepareVariant):
            raise ChildDiedError("the judge ended")
        return None

    played.reply = gone
    with pytest.raises(EngineError, match="the judge ended"):
        await played.varying.call(Variant.EQUAL, then=Variant.TINY)
    assert len(played.calls) == 1


async def test_dismissed_variant_is_not_called(played: Played) -> None:
    played.replies(protocol.LayOutVariant, protocol.VariantLaidOut(id="v", arena=played.arena, dismissed="not finite"))
    answer = await played.varying.call(Variant.LARGE)
    assert answer == VariantResult(variant=Variant.LARGE, dismissed="not finite")
    assert (answer.is_right, played.calls) == (False, [])


async def test_moved_content_gets_its_own_file(played: Played) -> None:
    first = played.arena
    for variant in (Variant.MOVED, Variant.TINY, Variant.MOVED):
        await played.varying.call(variant)
    one, two, three = (call.arena.path for call in played.calls)
    assert one == two
    assert len({first.path, one, three}) == 3
    played.varying.close()
    assert not Path(one).exists()
    assert not Path(three).exists()


async def test_content_in_device_memory_needs_no_file(tmp_path: Path) -> None:
    played = Played(tmp_path, handle="h")
    await played.varying.call(Variant.MOVED)
    assert [command.arena_path for command in played.asked if isinstance(command, protocol.LayOutVariant)] == [None]


async def test_a_wrong_value_is_wrong(played: Played) -> None:
    played.replies(protocol.Compare, protocol.Compared(id="c", reports=(RIGHT, WRONG), repeated=None, mutated=None))
    assert (await played.varying.call(Variant.EVEN)).wrong == "return: 3 of 4 wrong"


async def test_a_changed_input_is_wrong(played: Played) -> None:
    played.replies(
        protocol.Compare, protocol.Compared(id="c", reports=(RIGHT,), repeated=None, mutated="input x was changed")
    )
    assert (await played.varying.call(Variant.EVEN)).wrong == "input x was changed"


async def test_unreadable_outputs_are_candidate_errors(played: Played) -> None:
    played.replies(protocol.Compare, failed(FailureKind.TAMPERED))
    assert (await played.varying.call(Variant.EVEN)).wrong == "no answer"


@pytest.mark.parametrize("kind", [FailureKind.RAISED, FailureKind.EXITED, FailureKind.OUT_OF_BOUNDS])
async def test_a_candidate_that_raises_is_wrong(played: Played, kind: FailureKind) -> None:
    played.replies(protocol.Call, failed(kind))
    answer = await played.varying.call(Variant.EVEN)
    assert (answer.wrong, answer.trouble, played.renewed) == ("it failed: no answer", "", 0)


@pytest.mark.parametrize("kind", [FailureKind.OUT_OF_MEMORY, FailureKind.UNSUPPORTED, FailureKind.ENGINE])
async def test_possible_machine_failure_is_trouble(played: Played, kind: FailureKind) -> None:
    played.replies(protocol.Call, failed(kind))
    answer = await played.varying.call(Variant.EVEN)
    assert (answer.wrong, answer.trouble, answer.is_right) == ("", "no answer", False)


async def test_worker_with_lost_device_is_trouble_and_replaced(played: Played) -> None:
    played.replies(protocol.Call, failed(FailureKind.RAISED, broken=True))
    answer = await played.varying.call(Variant.EVEN)
    assert (answer.wrong, answer.trouble, played.renewed) == ("", "no answer", 1)


async def test_worker_death_is_reported_as_trouble(played: Played) -> None:
    def die(command: protocol.AnyCommand) -> None:
        if isinstance(command, protocol.Call):
            raise ChildDiedError("the worker died")

    played.reply = die
    assert (await played.varying.call(Variant.EVEN)).trouble == "the worker died"


async def test_unexpected_reply_is_reported_as_trouble(played: Played) -> None:
    played.replies(protocol.Call, protocol.Done(id="d"))
    assert (await played.varying.call(Variant.EVEN)).trouble == "a call was answered with Done"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (protocol.LayOutVariant, "could not make large values of c: no answer"),
        (protocol.Compare, "could not compare outputs of c: no answer"),
    ],
)
async def test_failing_judge_is_engine_error(played: Played, kind: type[protocol.AnyCommand], said: str) -> None:
    played.replies(kind, failed(FailureKind.ENGINE))
    with pytest.raises(EngineError, match=said):
        await played.varying.call(Variant.LARGE)
