"""Kernels of later cases are lowered beside the first, and published; failures of that have no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.model import Candidate, Case, DType, Launch, Limits, Plan, Tier
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.protocol.compiling import KeyedLaunch, published_name
from engine.run.ahead.lowering import LoweringAhead, is_useful, publish
from engine.run.proving.kernels import NotLoweredError
from tests.engine.conftest import Employ
from tests.engine.replay.tapes import launch_record
from tests.engine.toy_problem import toy_problem

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}) for name in "abcd")
PLAN = Plan(problem=toy_problem(*CASES), cases=CASES, device="cpu", target=None)
STATE = "f0" * 32
Answer = Callable[[protocol.RunDry], protocol.AnyReply | None]


def key(name: str) -> str:
    return f"{ord(name):064x}"


def one_launch(command: protocol.RunDry) -> protocol.AnyReply:
    keyed = KeyedLaunch(key=key(command.case), state=STATE, launch=launch_record(command.case))
    return protocol.DryRunDone(id=command.id, keyed=(keyed,))


class Stage:
    """A lowering whose worker, compiler and judge are played here; `answer` is the worker's to a dry run."""

    def __init__(
        self,
        employ: Employ,
        folder: Path,
        answer: Answer = one_launch,
        *,
        plan: Plan = PLAN,
        storage_bytes: int = 16,
        publishes_all: bool = True,
    ) -> None:
        self.cases: list[str] = []
        self.lowered: list[str] = []
        self.not_lowered: dict[str, Exception] = {}
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
        self.lowering = LoweringAhead(
            plan, session=session, lower=self._lower, folder=folder, profile=Profile(lambda: 0.0, started=0.0),
            ask_judge=self._judge,
        )  # fmt: skip
        if publishes_all:
            self.lowering._is_withheld = lambda launch: False

    async def run(self) -> None:
        """Lower the kernels of all cases."""
        await self.lowering.run()

    async def _lower(self, launch: Launch, state: str) -> str:
        assert state == STATE
        self.lowered.append(launch.kernel)
        if launch.kernel in self.not_lowered:
            raise self.not_lowered[launch.kernel]
        return f"module of {launch.kernel}"

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
    assert published(tmp_path) == {published_name(key(name)): f"module of {name}" for name in "abcd"}


@pytest.mark.parametrize("error", [NotLoweredError("no"), EngineError("died"), OSError("full")], ids=lambda e: str(e))
async def test_kernel_that_is_not_lowered_is_left_out(employ: Employ, tmp_path: Path, error: Exception) -> None:
    stage = Stage(employ, tmp_path)
    stage.not_lowered["c"] = error
    await stage.run()
    assert stage.lowered == ["b", "c", "d", "a"]
    assert sorted(published(tmp_path)) == [published_name(key(name)) for name in "abd"]


async def test_kernel_that_cannot_be_shared_is_not_published(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)

    async def without_text(launch: Launch, state: str) -> str:
        return ""

    stage.lowering._lower = without_text
    await stage.run()
    assert published(tmp_path) == {}


async def test_first_specialisation_and_some_others_are_not_published(employ: Employ, tmp_path: Path) -> None:
    cases = tuple(replace(CASES[0], name=f"{number}") for number in range(64))
    plan = replace(PLAN, cases=cases, draw_seed=1)

    def of_two_kernels(command: protocol.RunDry) -> protocol.AnyReply:
        number = int(command.case)
        keyed = KeyedLaunch(key=f"{number:064x}", state=STATE, launch=launch_record("fg"[number % 2]))
        return protocol.DryRunDone(id=command.id, keyed=(keyed,))

    stage = Stage(employ, tmp_path, of_two_kernels, plan=plan, publishes_all=False)
    await stage.run()
    withheld = {number for number in range(64) if published_name(f"{number:064x}") not in published(tmp_path)}
    assert len(stage.lowered) == 64
    assert {1, 2} < withheld
    assert 1 <= len(withheld - {1, 2}) <= 8


async def test_cancelled_lowering_leaves_nothing_running(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def endless(launch: Launch, state: str) -> str:
        asked.set()
        await answer.wait()
        return "late"

    stage.lowering._lower = endless
    running = asyncio.create_task(stage.run())
    await asked.wait()
    before = asyncio.all_tasks()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    answer.set()
    await asyncio.sleep(0)
    assert (running.cancelled(), published(tmp_path)) == (True, {})
    assert asyncio.all_tasks() < before


async def test_next_cases_are_described_while_others_are_run_dry(employ: Employ, tmp_path: Path) -> None:
    plan = replace(PLAN, cases=tuple(replace(CASES[0], name=name) for name in "abcdefghij"))
    known: dict[str, int] = {}

    def lower(command: protocol.RunDry) -> protocol.AnyReply:
        known[command.case] = sum(map(len, stage.described))
        return one_launch(command)

    stage = Stage(employ, tmp_path, lower, plan=plan)
    await stage.run()
    assert stage.described == [tuple("bcde"), tuple("fghi"), ("j", "a")]
    assert known == {**dict.fromkeys("bcde", 8), **dict.fromkeys("fghija", 10)}


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
async def test_failed_dry_run_publishes_nothing(
    employ: Employ, tmp_path: Path, answer: Answer, cases: list[str]
) -> None:
    stage = Stage(employ, tmp_path, answer)
    await stage.run()
    assert (stage.cases, published(tmp_path)) == (cases, {})


def test_published_file_is_readable_for_every_user(tmp_path: Path) -> None:
    publish(tmp_path, key("a"), "module")
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
