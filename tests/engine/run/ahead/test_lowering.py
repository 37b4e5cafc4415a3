"""Kernels of later cases are lowered beside the first, and published; failures of that have no effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine import protocol
from engine.model import Candidate, Case, DType, Limits, Plan, Tier
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.protocol.compiling import LoweredKernel
from engine.run.ahead.lowering import LoweringAhead, is_useful, publish
from tests.engine.conftest import Employ
from tests.engine.toy_problem import toy_problem

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}) for name in "abcd")
PLAN = Plan(problem=toy_problem(*CASES), cases=CASES, device="cpu", target=None)
Answer = Callable[[protocol.RunDry], protocol.AnyReply | None]


def kernel(name: str) -> LoweredKernel:
    return LoweredKernel(key=f"{ord(name):064x}", ttir=f"module of {name}")


def lowered(command: protocol.RunDry) -> protocol.AnyReply:
    return protocol.DryRunDone(id=command.id, kernels=(kernel(command.case),))


class Stage:
    """A lowering whose worker and judge are played here; `answer` is the worker's to a dry run."""

    def __init__(self, employ: Employ, folder: Path, answer: Answer = lowered, *, storage_bytes: int = 16) -> None:
        self.cases: list[str] = []
        self._answer, self._storage_bytes = answer, storage_bytes
        self.fork_server, self.process_pool = employ(self._reply)
        session = CandidateSession(
            LoadRequest(candidate=Candidate(source=b"", problem="toy::twice"), entry="f"),
            spare=self.process_pool.worker,
            limits=Limits(),
            on_log=lambda *_: None,
        )
        self.lowering = LoweringAhead(
            PLAN, session=session, folder=folder, profile=Profile(lambda: 0.0, started=0.0), ask_judge=self._judge
        )

    def _reply(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            self.cases.append(command.case)
            if (reply := self._answer(command)) is None:
                self.fork_server.die(self.fork_server.serving)
            return reply
        return protocol.Loaded(id=command.id) if isinstance(command, protocol.Load) else None

    async def _judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        shape = protocol.Shape(arguments=(protocol.ScalarSpec(value=1),), storages=(self._storage_bytes,))
        return protocol.Described(id=command.id, shapes=(shape,))


def published(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


async def test_first_cases_come_last_and_all_are_published(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path)
    await stage.lowering.run()
    assert stage.cases == ["c", "d", "a", "b"]
    assert published(tmp_path) == {kernel(name).filename(kernel(name).key): f"module of {name}" for name in "abcd"}


async def test_large_cases_are_left_out(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path, storage_bytes=(64 << 20) + 1)
    await stage.lowering.run()
    assert (stage.cases, published(tmp_path)) == ([], {})


def died(_: protocol.RunDry) -> None:
    """A worker that is killed."""


def failed(command: protocol.RunDry) -> protocol.AnyReply:
    return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no")


@pytest.mark.parametrize(("answer", "cases"), [(died, ["c"]), (failed, ["c", "d", "a", "b"])])
async def test_failed_lowering_publishes_nothing(
    employ: Employ, tmp_path: Path, answer: Answer, cases: list[str]
) -> None:
    stage = Stage(employ, tmp_path, answer)
    await stage.lowering.run()
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
        (replace(PLAN, cases=CASES[:2]), 2, False),
    ],
)
def test_lowering_ahead_is_for_long_runs_with_idle_cores(plan: Plan, cores: int, useful: bool) -> None:
    assert is_useful(plan, cores) is useful
