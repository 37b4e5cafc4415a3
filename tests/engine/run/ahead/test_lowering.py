"""Kernels of later cases are lowered beside the first, and published; failures of that have no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine import protocol
from engine.model import Candidate, Case, DType, Limits, Plan, Tier
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.protocol.compiling import PublishedKernel
from engine.run.ahead.lowering import LoweringAhead, is_useful, publish
from tests.engine.conftest import Employ
from tests.engine.toy_problem import toy_problem

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}) for name in "abcd")
PLAN = Plan(problem=toy_problem(*CASES), cases=CASES, device="cpu", target=None)
Answer = Callable[[protocol.RunDry], protocol.AnyReply | None]


def kernel(name: str) -> PublishedKernel:
    return PublishedKernel(key=f"{ord(name):064x}", ttir=f"module of {name}")


def lowered(command: protocol.RunDry) -> protocol.AnyReply:
    return protocol.DryRunDone(id=command.id, kernels=(kernel(command.case),))


class Stage:
    """A lowering whose worker and judge are played here; `answer` is the worker's to a dry run."""

    def __init__(
        self, employ: Employ, folder: Path, answer: Answer = lowered, *, plan: Plan = PLAN, storage_bytes: int = 16
    ) -> None:
        self.cases: list[str] = []
        self.described: list[tuple[str, ...]] = []
        self.fails_to_describe = False
        self._answer, self._storage_bytes = answer, storage_bytes
        self.fork_server, self.process_pool = employ(self._reply)
        session = CandidateSession(
            LoadRequest(candidate=Candidate(source=b"", problem="toy::twice"), entry="f"),
            spare=self.process_pool.worker,
            limits=Limits(),
            on_log=lambda *_: None,
        )
        self.cases_ended = asyncio.Event()
        self.lowering = LoweringAhead(
            plan, session=session, folder=folder, profile=Profile(lambda: 0.0, started=0.0), ask_judge=self._judge,
            cases_ended=self.cases_ended,
        )  # fmt: skip

    async def run(self) -> None:
        """Lower the kernels of all cases, in a run whose cases have ended."""
        self.cases_ended.set()
        await self.lowering.run()

    def _reply(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            self.cases.append(command.case)
            if (reply := self._answer(command)) is None:
                self.fork_server.die(self.fork_server.serving)
            return reply
        return protocol.Loaded(id=command.id) if isinstance(command, protocol.Load) else None

    async def _judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Describe)
        if self.fails_to_describe:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="no")
        self.described.append(command.cases)
        shape = protocol.Shape(arguments=(protocol.ScalarSpec(value=1),), storages=(self._storage_bytes,))
        return protocol.Described(id=command.id, shapes=(shape,) * len(command.cases))


def published(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


async def test_first_case_comes_last_and_all_are_published(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)
    await stage.run()
    assert stage.cases == ["b", "c", "d", "a"]
    assert published(tmp_path) == {kernel(name).filename(kernel(name).key): f"module of {name}" for name in "abcd"}


async def test_first_case_is_lowered_once_all_cases_have_ended(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)
    lowering = asyncio.create_task(stage.lowering.run())
    while len(list(tmp_path.iterdir())) < 3:
        await asyncio.sleep(0)
    assert (stage.cases, lowering.done()) == (["b", "c", "d"], False)
    stage.cases_ended.set()
    await lowering
    assert stage.cases == ["b", "c", "d", "a"]


async def test_next_cases_are_described_while_kernels_are_lowered(employ: Employ, tmp_path: Path) -> None:
    plan = replace(PLAN, cases=tuple(replace(CASES[0], name=name) for name in "abcdefghij"))
    known: dict[str, int] = {}

    def lower(command: protocol.RunDry) -> protocol.AnyReply:
        known[command.case] = sum(map(len, stage.described))
        return lowered(command)

    stage = Stage(employ, tmp_path, lower, plan=plan)
    await stage.run()
    assert stage.described == [tuple("bcde"), tuple("fghi"), ("j",), ("a",)]
    assert known == {**dict.fromkeys("bcde", 8), **dict.fromkeys("fghij", 9), "a": 10}


async def test_worker_is_ended_if_the_judge_describes_no_case(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)
    stage.fails_to_describe = True
    await stage.run()
    for _ in range(100):  # as long as a worker takes to load
        await asyncio.sleep(0)
    assert stage.cases == []
    assert [pid for pid in stage.fork_server.pids_of("worker") if pid in stage.fork_server._ends] == []


async def test_large_cases_are_left_out(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path, storage_bytes=(64 << 20) + 1)
    await stage.run()
    assert (stage.cases, published(tmp_path)) == ([], {})


def died(_: protocol.RunDry) -> None:
    """A worker that is killed."""


def failed(command: protocol.RunDry) -> protocol.AnyReply:
    return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no")


@pytest.mark.parametrize(("answer", "cases"), [(died, ["b"]), (failed, ["b", "c", "d", "a"])])
async def test_failed_lowering_publishes_nothing(
    employ: Employ, tmp_path: Path, answer: Answer, cases: list[str]
) -> None:
    stage = Stage(employ, tmp_path, answer)
    await stage.run()
    assert (stage.cases, published(tmp_path)) == (cases, {})


def test_published_file_is_readable_for_every_user(tmp_path: Path) -> None:
    publish(tmp_path, kernel("a"))
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("plan", "cores", "useful"),
    [
        (PLAN, 2, True),
        (PLAN, 1, False),
        (replace(PLAN, one_worker=True), 2, False),
        (replace(PLAN, cases=CASES[:1]), 2, False),
    ],
)
def test_lowering_ahead_is_for_long_runs_with_idle_cores(plan: Plan, cores: int, useful: bool) -> None:
    assert is_useful(plan, cores) is useful
