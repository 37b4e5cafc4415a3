"""Which case is ready when: in the order in which its kernels are compiled, and always in the end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import msgspec
import pytest

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError
from engine.model import (
    BenchmarkPlan,
    Candidate,
    Case,
    DType,
    Launch,
    Limits,
    Plan,
    Tier,
)
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.directories import EngineDirectories
from engine.profile import Profile
from engine.run.ahead.dry_run import DryRun
from tests.engine.toy_problem import toy_problem
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from tests.engine.conftest import Employ, FakeForkServer

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}) for name in "abcd")
A, B, C, D = CASES
PROBLEM = toy_problem(*CASES)
SHAPE = protocol.Shape(arguments=(protocol.ScalarSpec(value=1),), storages=(16,))


def launch(name: str) -> protocol.SuppressedLaunch:
    met = Launch(
        kernel=name, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
    )
    return protocol.SuppressedLaunch(launch=met, specialisation=f'{{"name": "{name}"}}')


class Stage:
    """A dry run whose worker, judge and compilers are played here.

    `kernels` are what each case launches: a letter a kernel.  `compiled` says that one is.
    """

    def __init__(self, employ: Employ, cases: Iterable[Case] = CASES, *, limit_s: float = 100.0) -> None:
        self.kernels = {"a": "k", "b": "l", "c": "", "d": "k"}
        self.storages: dict[str, tuple[int, ...]] = {}
        self.dry_runs: list[protocol.RunDry] = []
        self.met: list[str] = []
        self.described: list[tuple[str, ...]] = []
        self.profile = Profile(lambda: 0.0, started=0.0)
        self.waited_for: dict[str, asyncio.Future[None]] = {}
        self.ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]] = self.judge
        self.fork_server: FakeForkServer
        self.fork_server, self.process_pool = employ(self.answer, target="sm_90")
        self.process_pool.share_no_more("there is no judge here")
        self.session = CandidateSession(
            LoadRequest(candidate=Candidate(source=b"", problem="toy::twice"), entry="f"),
            spare=self.process_pool.worker,
            limits=Limits(case_s=120.0),
            on_log=lambda *_: None,
        )
        self.dry_run = DryRun(
            Plan(problem=PROBLEM, cases=tuple(cases), device="cuda", target="sm_90"),
            session=self.session,
            profile=self.profile,
            add=self.add,
            ask_judge=lambda command: self.ask_judge(command),
            limit_s=limit_s,
        )

    def answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Load():
                return protocol.Loaded(id=command.id)
            case protocol.RunDry():
                self.dry_runs.append(command)
                launches = tuple(launch(name) for name in self.kernels[command.case])
                return protocol.DryRunDone(id=command.id, launches=launches)
        raise AssertionError(f"a worker of the dry run is asked to {command}")

    async def judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Describe)
        self.described.append(command.cases)
        shapes = (msgspec.structs.replace(SHAPE, storages=self.storages.get(case, (16,))) for case in command.cases)
        return protocol.Described(id=command.id, shapes=tuple(shapes))

    def add(self, met: Launch, specialisation: str) -> list[asyncio.Future[None]]:
        assert specialisation == f'{{"name": "{met.kernel}"}}'
        return [self.waited_for.setdefault(met.kernel, asyncio.get_running_loop().create_future())]

    def compiled(self, kernel: str) -> None:
        self.waited_for[kernel].set_result(None)

    async def ready(self, *cases: Case) -> str:
        return (await self.dry_run.next_of(cases)).name

    async def is_waiting(self, *cases: Case) -> bool:
        """Whether none of these cases is ready, after everybody has had a turn."""
        waiting = asyncio.ensure_future(self.dry_run.next_of(cases))
        for _ in range(20):
            await asyncio.sleep(0)
        done = waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return not done


@pytest.fixture
async def stage(employ: Employ) -> AsyncIterator[Stage]:
    stage = Stage(employ)
    yield stage
    await stage.dry_run.close()


async def test_case_is_ready_only_when_kernel_is_compiled(stage: Stage) -> None:
    await stage.dry_run.run()
    assert await stage.is_waiting(A)
    stage.compiled("k")
    assert await stage.ready(A) == "a"


async def test_size_of_a_case_is_known_after_its_dry_run(stage: Stage) -> None:
    assert stage.dry_run.bytes_of(A) == math.inf
    await stage.dry_run.run()
    assert stage.dry_run.bytes_of(A) == sum(SHAPE.storages)


async def test_cases_follow_the_order_of_compiled_kernels(stage: Stage) -> None:
    await stage.dry_run.run()
    assert await stage.ready(A, B, C, D) == "c"
    stage.compiled("l")
    assert await stage.ready(A, B, D) == "b"
    assert await stage.is_waiting(A, D)
    stage.compiled("k")
    assert [await stage.ready(A, D), await stage.ready(D)] == ["a", "d"]


async def test_a_case_waits_for_all_of_its_kernels(stage: Stage) -> None:
    stage.kernels["a"] = "kl"
    await stage.dry_run.run()
    stage.compiled("l")
    assert await stage.is_waiting(A)
    stage.compiled("k")
    assert await stage.ready(A) == "a"


async def test_case_without_launches_is_ready_at_once(stage: Stage) -> None:
    await stage.dry_run.run()
    assert await stage.ready(C) == "c"


async def test_case_with_uncompiled_kernels_is_ready_after_timeout(employ: Employ) -> None:
    stage = Stage(employ, limit_s=0.0)
    assert await stage.ready(B, A) == "b"
    await stage.dry_run.close()


async def test_waiting_ends_with_the_patience(employ: Employ) -> None:
    stage = Stage(employ, limit_s=0.01)
    await asyncio.wait_for(stage.dry_run.next_of([A]), timeout=PATIENCE_S)
    await stage.dry_run.close()


async def test_hanging_dry_run_leaves_every_case_ready(employ: Employ) -> None:
    stage = Stage(employ, limit_s=0.01)
    stage.fork_server.answer = lambda kind, command: (
        None if isinstance(command, protocol.RunDry) else stage.answer(kind, command)
    )
    await asyncio.wait_for(stage.dry_run.run(), timeout=PATIENCE_S)
    assert not stage.session.occupied
    assert [future.done() for future in stage.dry_run._ready.values()] == [True] * 4


async def test_dry_run_without_memory_leaves_every_case_ready(
    stage: Stage, directories: EngineDirectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(directories, "open_workspace", full)
    await stage.dry_run.run()
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]


async def test_first_of_several_ready_cases_follows_plan(stage: Stage) -> None:
    stage.kernels = dict.fromkeys("abcd", "")
    await stage.dry_run.run()
    assert await stage.ready(B, D, A) == "b"


async def test_case_can_be_awaited_before_its_dry_run(stage: Stage) -> None:
    waiting = asyncio.create_task(stage.dry_run.next_of(CASES))
    await stage.dry_run.run()
    assert (await waiting).name == "c"
    assert "wait for kernels" in [span.name for span in stage.profile.spans()]


async def test_first_cases_are_described_early(stage: Stage) -> None:
    seen: list[list[str]] = []
    judge = stage.judge

    async def look(command: protocol.AnyCommand) -> protocol.AnyReply:
        seen.append([dry_runs.case for dry_runs in stage.dry_runs])
        return await judge(command)

    stage.ask_judge = look
    await stage.dry_run.run()
    assert stage.described == [("a", "b"), ("c", "d")]
    assert seen == [[], ["a", "b"]]


async def test_largest_case_follows_the_first_two(stage: Stage) -> None:
    stage.storages = {"b": (99,), "d": (16, 16)}
    await stage.dry_run.run()
    assert [command.case for command in stage.dry_runs] == ["a", "b", "d", "c"]


async def test_judge_is_not_queried_about_missing_cases(employ: Employ) -> None:
    stage = Stage(employ, [A])
    await stage.dry_run.run()
    assert stage.described == [("a",)]
    await stage.dry_run.close()


async def test_the_worker_is_reported_shapes_and_never_content(stage: Stage) -> None:
    await stage.dry_run.run()
    assert [(command.case, command.arguments, command.storages) for command in stage.dry_runs] == [
        (name, SHAPE.arguments, SHAPE.storages) for name in "abcd"
    ]


async def test_dry_run_worker_exits_afterwards(stage: Stage) -> None:
    await stage.dry_run.run()
    assert not stage.session.occupied
    assert stage.fork_server.forked == ["worker"]


async def test_candidate_failing_to_load_leaves_every_case_ready(stage: Stage) -> None:
    stage.fork_server.answer = lambda kind, command: protocol.Failed(
        id=command.id, kind=protocol.FailureKind.RAISED, message="ImportError"
    )
    await stage.dry_run.run()
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]


async def test_case_failing_its_dry_run_is_ready(stage: Stage) -> None:
    def refuse_a(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry) and command.case == "a":
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.OUT_OF_MEMORY, message="no memory")
        return stage.answer(kind, command)

    stage.fork_server.answer = refuse_a
    await stage.dry_run.run()
    assert await stage.ready(A) == "a"
    assert await stage.is_waiting(B)
    assert [command.case for command in stage.dry_runs] == ["b", "c", "d"]


async def test_crashed_worker_leaves_unvisited_cases_ready(stage: Stage) -> None:
    def die_at_b(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry) and command.case == "b":
            stage.fork_server.die(stage.fork_server.youngest)
            return None
        return stage.answer(kind, command)

    stage.fork_server.answer = die_at_b
    await stage.dry_run.run()
    assert [await stage.ready(case) for case in (B, C, D)] == ["b", "c", "d"]
    assert await stage.is_waiting(A)
    stage.compiled("k")
    assert await stage.ready(A) == "a"


@pytest.mark.parametrize("dies", [False, True])
async def test_judge_failing_to_describe_leaves_every_case_ready(stage: Stage, dies: bool) -> None:
    async def refuse(command: protocol.AnyCommand) -> protocol.AnyReply:
        if dies:
            raise ChildDiedError("the judge ended without a reply")
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="no such problem")

    stage.ask_judge = refuse
    await stage.dry_run.run()
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]
    assert not stage.session.occupied


async def test_cancelled_dry_run_leaves_no_worker(stage: Stage) -> None:
    asked = asyncio.Event()

    def silent(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            asked.set()
            return None
        return stage.answer(kind, command)

    stage.fork_server.answer = silent
    running = asyncio.create_task(stage.dry_run.run())
    await asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not stage.session.occupied
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]


async def test_compiled_call_timeout_grows_with_launches(stage: Stage) -> None:
    stage.kernels["b"] = "lmn"
    await stage.dry_run.run()
    for kernel in stage.waited_for:
        stage.compiled(kernel)
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]
    assert [stage.dry_run.call_s(case) for case in CASES] == [11.0, 13.0, 10.0, 11.0]


async def test_call_that_may_compile_has_the_whole_deadline(stage: Stage) -> None:
    assert stage.dry_run.call_s(A) == 120.0  # nothing is known of it
    await stage.dry_run.run()
    assert stage.dry_run.call_s(A) == 120.0  # its kernel is not compiled
    stage.compiled("k")
    await stage.ready(A)
    assert stage.dry_run.call_s(A) == 11.0


async def test_call_failing_its_dry_run_has_whole_deadline(stage: Stage) -> None:
    def stumbling(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = stage.answer(kind, command)
        return msgspec.structs.replace(reply, is_incomplete=True) if isinstance(reply, protocol.DryRunDone) else reply

    stage.fork_server.answer = stumbling
    await stage.dry_run.run()
    stage.compiled("k")
    await stage.ready(A)
    assert stage.dry_run.call_s(A) == 120.0


async def test_candidate_hanging_in_dry_run_has_one_minute(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        raise DeadlineError(f"the worker timed out after {deadline_s:g} s")

    monkeypatch.setattr(stage.session, "ask", late)
    await stage.dry_run.run()
    assert [stage.dry_run.call_s(case) for case in CASES] == [60.0] * 4


async def test_cases_before_hanging_dry_run_keep_their_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = stage.session.ask

    async def late(command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        if isinstance(command, protocol.RunDry) and command.case == "b":
            raise DeadlineError(f"the worker timed out after {deadline_s:g} s")
        return await ask(command, deadline_s=deadline_s)

    monkeypatch.setattr(stage.session, "ask", late)
    await stage.dry_run.run()
    stage.compiled("k")
    await stage.ready(A)
    assert [stage.dry_run.call_s(case) for case in (A, B)] == [11.0, 60.0]


async def test_call_deadline_never_exceeds_the_limits(stage: Stage) -> None:
    stage.kernels["a"] = "k" * 111
    await stage.dry_run.run()
    stage.compiled("k")
    await stage.ready(A)
    assert stage.dry_run.call_s(A) == 120.0


async def test_closing_twice_forgets_awaited_cases(stage: Stage) -> None:
    await stage.dry_run.run()
    await stage.dry_run.close()
    await stage.dry_run.close()
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name() in "abcd"] == []
    assert not stage.waited_for["k"].cancelled()  # the compilers still set it


async def test_closing_during_dry_run_ends_worker(stage: Stage) -> None:
    asked = asyncio.Event()

    def silent(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            asked.set()
            return None
        return stage.answer(kind, command)

    stage.fork_server.answer = silent
    running = asyncio.create_task(stage.dry_run.run())
    await asked.wait()
    await stage.dry_run.close()
    await running
    assert not stage.session.occupied
    assert [await stage.ready(case) for case in CASES] == ["a", "b", "c", "d"]


async def test_timed_cases_run_dry_last_with_every_configuration(stage: Stage) -> None:
    plan = Plan(problem=PROBLEM, cases=(A, B, C), device="cuda", target="sm_90", benchmark=BenchmarkPlan(cases=(D,)))
    stage.dry_run = DryRun(
        plan, session=stage.session, profile=stage.profile, add=stage.add, ask_judge=stage.judge,
        on_launch=lambda met: stage.met.append(met.kernel),
    )  # fmt: skip
    await stage.dry_run.run()
    verified = [kernel for case in "abc" for kernel in stage.kernels[case]]
    assert stage.met == verified
    assert [(one.case, one.tunes) for one in stage.dry_runs] == [("a", False), ("b", False), ("c", False), ("d", True)]
    assert stage.described == [("a", "b"), ("c",), ("d",)]
