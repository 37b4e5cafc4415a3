"""Replays in progress at once, each at a place of the judge, and replays that take too long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from engine import protocol
from engine.errors import DeadlineError
from engine.model import Case, DType, Limits, Outcome, OutputReport, Tier
from engine.protocol.proof.tape import Tape
from engine.run.proving.replayer import PersistentReplayer
from engine.run.proving.replays import PLACES_BESIDE_PROBES, NotReplayed, Replayed, Replays
from engine.run.stages.probe_stage import PLACE_BESIDE
from tests.engine.toy_problem import toy_problem
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from engine.processes.process_pool import ProcessPool

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in "abc")
TAPE = Tape(storages=(), specialisations=(), steps=(), returned=())
ARENA = protocol.ArenaSpec(storages=(), bytes=0, handle="0f" * 64, block_bytes=512)


class _Processes:
    """Judge and replayer; the replayer replies when it `may_reply`, unless every replay `times_out`.

    `prepared` are the places of the cases in their order, `released` those that are free again.  The arguments of a
    case are tensors of these `shapes`.
    """

    shares_device = True

    def __init__(self, *, times_out: bool = False, shapes: Sequence[tuple[int, ...]] = ()) -> None:
        self.times_out = times_out
        self._arguments = tuple(
            protocol.TensorSpec(storage=0, dtype="float32", shape=shape, strides=(1,) * len(shape), first=0)
            for shape in shapes
        )
        self.prepared: list[tuple[str, int]] = []
        self.released: list[int] = []
        self.may_reply = asyncio.Event()
        self.changed = asyncio.Event()

    async def hold(self, *_: object) -> str:
        return ""

    async def shared(self) -> Path:
        return Path("/nonexistent")

    async def ask(self, command: protocol.ReplayTape, *, deadline_s: float) -> protocol.AnyReply:
        if self.times_out:
            raise DeadlineError("the replayer timed out")
        await self.may_reply.wait()
        return protocol.TapeReplayed(id=command.id, returned=(), moved_bytes=0, by_kernels=True)

    async def ask_judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        match command:
            case protocol.Prepare():
                self.prepared.append((command.case, command.place))
                self.changed.set()
                return protocol.Prepared(id=command.id, arguments=self._arguments, arena=ARENA, elapsed_s=0.0)
            case protocol.Compare():
                report = OutputReport(name="return", outcome=Outcome.PASS)
                return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
            case protocol.Release():
                self.released.append(command.place)
        return protocol.Done(id=command.id)


async def test_two_tapes_are_replayed_at_once_at_places_of_their_own() -> None:
    processes = _Processes()
    replays = Replays(
        cast("PersistentReplayer", processes), process_pool=cast("ProcessPool", processes),
        problem=toy_problem(*CASES), limits=Limits(),
    )  # fmt: skip
    running = [asyncio.create_task(replays.replay(case, TAPE, (), without=())) for case in CASES]
    async with asyncio.timeout(PATIENCE_S):
        while len(processes.prepared) < 2:
            processes.changed.clear()
            await processes.changed.wait()
        for _ in range(20):  # a third would be prepared now
            await asyncio.sleep(0)
        assert processes.prepared == [("a", 1), ("b", 2)]
        processes.may_reply.set()
        replayed = await asyncio.gather(*running)
    assert [isinstance(one, Replayed) and one.mismatch for one in replayed] == ["", "", ""]
    assert (processes.prepared[2][0], sorted(processes.released)) == ("c", sorted(p for _, p in processes.prepared))


async def test_replays_during_probes_leave_the_place_of_other_probes_free() -> None:
    processes = _Processes()
    processes.may_reply.set()
    replays = Replays(
        cast("PersistentReplayer", processes), process_pool=cast("ProcessPool", processes),
        problem=toy_problem(*CASES), limits=Limits(), places=PLACES_BESIDE_PROBES,
    )  # fmt: skip
    await asyncio.gather(*(replays.replay(case, TAPE, (), without=()) for case in CASES))
    places = {place for _, place in processes.prepared}
    assert (len(processes.prepared), len(places), places & {0, PLACE_BESIDE}) == (3, 1, set())


async def test_no_replay_is_tried_after_two_took_too_long() -> None:
    processes = _Processes(times_out=True)
    replays = Replays(
        cast("PersistentReplayer", processes), process_pool=cast("ProcessPool", processes),
        problem=toy_problem(*CASES), limits=Limits(case_s=10.0),
    )  # fmt: skip
    replayed = [await replays.replay(case, TAPE, (), without=()) for case in CASES]
    assert [one.reason for one in replayed if isinstance(one, NotReplayed)] == [
        "the replay took more than 10 s",
        "the replay took more than 10 s",
        "not tried: 2 replays took more than 10 s",
    ]
    assert [case for case, _ in processes.prepared] == ["a", "b"]


@pytest.mark.parametrize(
    ("shapes", "no_content"),
    [((), False), (((3, 0),), True), (((0,), (4, 0)), True), (((0,), (4,)), False)],
    ids=["no tensors", "empty tensor", "empty tensors", "one with elements"],
)
async def test_case_has_no_content_where_all_its_tensors_are_empty(
    shapes: Sequence[tuple[int, ...]], *, no_content: bool
) -> None:
    processes = _Processes(shapes=shapes)
    processes.may_reply.set()
    replays = Replays(
        cast("PersistentReplayer", processes), process_pool=cast("ProcessPool", processes),
        problem=toy_problem(*CASES), limits=Limits(),
    )  # fmt: skip
    replayed = await replays.replay(CASES[0], TAPE, (), without=())
    assert isinstance(replayed, Replayed)
    assert replayed.no_content is no_content
