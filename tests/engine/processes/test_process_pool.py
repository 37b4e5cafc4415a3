"""The children of an engine by their jobs: one judge, and spares that are made again when they are lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import DeadlineError, EngineError, MachineBusyError
from engine.model import CacheState, Outcome, ProblemId
from engine.processes.builds.compiler_warming import CompilerWarming
from engine.processes.directories import EngineDirectories
from engine.sandbox.variables import MACHINE_VARIABLE
from engine.verdict import outcome_mapping

if TYPE_CHECKING:
    from tests.engine.conftest import Answer, Employ


async def test_simultaneous_judge_requests_share_one_judge(employ: Employ) -> None:
    fake, process_pool = employ()
    first, second = await asyncio.gather(process_pool.judge(), process_pool.judge())
    assert first is second
    assert fake.forked == ["judge"]


@pytest.mark.parametrize(("variable", "queues"), [("QUEUES", ["1", "2", None]), (None, [None, None, None])])
async def test_processes_with_context_get_few_queues(
    employ: Employ, variable: str | None, queues: list[str | None]
) -> None:
    fake, process_pool = employ(target="sm_90", queues_variable=variable)
    process_pool.worker.prepare(most=1)
    process_pool.compiler.prepare(most=1)
    await asyncio.gather(process_pool.judge(), process_pool.worker.settle(), process_pool.compiler.settle())
    by_kind = dict(zip(fake.forked, fake.environments, strict=True))
    assert [by_kind[kind].get("QUEUES") for kind in ("judge", "worker", "compiler")] == queues


async def test_simultaneous_judge_commands_run_one_by_one(employ: Employ) -> None:
    fake, process_pool = employ()
    asked: list[protocol.AnyCommand] = []

    def silent(kind: str, command: protocol.AnyCommand) -> None:
        asked.append(command)

    fake.answer = silent
    commands = [protocol.Release(id=protocol.new_id()) for _ in range(2)]
    asking = [asyncio.create_task(process_pool.ask_judge(command)) for command in commands]
    for number, command in enumerate(commands):
        while len(asked) == number:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert asked == commands[: number + 1]  # the next is not sent before this one is answered
        fake.say(fake.youngest, protocol.encode(protocol.Released(id=command.id, seed=number)))
        assert await asking[number] == protocol.Released(id=command.id, seed=number)


REFUSED = "cuIpcOpenMemHandle_v2: CUDA_ERROR_NOT_SUPPORTED"


def lending(refuses: str = "") -> Answer:
    """Children of whom the one of this kind cannot share memory."""

    def answer(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        if kind == refuses:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=REFUSED)
        if isinstance(command, protocol.ShareMemory):
            return protocol.MemoryShared(id=command.id, handle="0f", block_bytes=64)
        assert isinstance(command, protocol.OpenMemory)
        assert (command.handle, command.block_bytes) == ("0f", 64)
        return protocol.Done(id=command.id)

    return answer


@pytest.mark.parametrize(
    ("refuses", "shares", "why"), [("", True, ""), ("worker", False, REFUSED), ("judge", False, REFUSED)]
)
async def test_worker_reports_shared_memory_before_its_candidate(
    employ: Employ, refuses: str, shares: bool, why: str
) -> None:
    _, process_pool = employ(lending(refuses), target="sm_90")
    await process_pool.worker.wait()
    assert (process_pool.shares_device, process_pool.unshared) == (shares, why)


async def test_workers_are_queried_until_one_opens_memory(employ: Employ) -> None:
    fake, process_pool = employ(lending(), target="sm_90")
    first = await process_pool.worker.take()
    fake.answer = lending("worker")
    second = await process_pool.worker.take()
    assert process_pool.shares_device
    await first.end()
    await second.end()


async def test_worker_is_ready_without_a_judge(employ: Employ) -> None:
    fake, process_pool = employ(target="sm_90")

    def die(kind: str, command: protocol.AnyCommand) -> None:
        assert isinstance(command, protocol.ShareMemory)
        fake.die(fake.youngest)

    fake.answer = die
    assert (await process_pool.worker.wait()).child.alive
    assert process_pool.shares_device


async def test_worker_death_on_memory_query_is_engine_error(employ: Employ) -> None:
    fake, process_pool = employ(target="sm_90")

    def die(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes | None:
        if isinstance(command, protocol.OpenMemory):
            fake.die(fake.serving)
            return None
        return lending()(kind, command)

    fake.answer = die
    with pytest.raises(EngineError) as refused:
        await process_pool.worker.wait()
    assert outcome_mapping.of_worker_error(refused.value, "while loading").outcome is Outcome.ENGINE_ERROR


async def test_warm_process_dead_while_waiting_is_replaced(employ: Employ) -> None:
    fake, process_pool = employ()
    spare = await process_pool.worker.wait()
    fake.die(spare.child.pid)
    process = await process_pool.worker.take()
    assert process.child.alive
    await process.end()


async def test_worker_that_never_warms_is_engine_error(employ: Employ) -> None:
    fake, process_pool = employ()
    fake.ready = False
    with pytest.raises(EngineError) as refused:
        await process_pool.worker.take()
    assert outcome_mapping.of_worker_error(refused.value, "while loading").outcome is Outcome.ENGINE_ERROR


async def test_warm_process_failing_for_disk_is_retried(
    employ: Employ, directories: EngineDirectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    _, process_pool = employ()
    with monkeypatch.context() as disk:
        disk.setattr(directories, "open_workspace", full)
        with pytest.raises(OSError, match="No space"):
            await process_pool.worker.take()
    process = await process_pool.worker.take()
    assert process.child.alive
    await process.end()


async def test_device_has_separate_worker_for_dry_runs(employ: Employ) -> None:
    fake, process_pool = employ(target="sm_90")
    process_pool.begin()
    await process_pool.wait_until_warm()
    assert (fake.forked.count("judge"), fake.forked.count("worker")) == (1, 2)
    assert fake.forked.count("compiler") == 2 * process_pool.most_compilers  # of candidates and of modules


async def test_interpreter_pool_forks_two_workers(employ: Employ) -> None:
    fake, process_pool = employ()
    process_pool.begin()
    await process_pool.wait_until_warm()
    assert sorted(fake.forked) == ["compiler", "judge", "worker", "worker"]


async def test_only_a_replayer_on_the_machine_of_a_device_is_told_to_use_the_machine(employ: Employ) -> None:
    fake, process_pool = employ(target="sm_90")
    for on_machine in (False, True):
        await (await process_pool.start_replayer(on_machine=on_machine)).end()
    assert [environment.get(MACHINE_VARIABLE) for environment in fake.environments] == [None, "1"]


async def test_next_worker_is_warmed_early_only_without_timing(employ: Employ) -> None:
    for target, beside, after in ((None, [], ["worker"]), ("sm_90", ["replayer"], [])):
        fake, process_pool = employ(target=target)
        process = await process_pool.worker.take()
        for prepare, expected in (
            (process_pool.prepare_beside_cases, beside),
            (process_pool.prepare_after_cases, after),
        ):
            forked = len(fake.forked)
            prepare()
            await asyncio.gather(process_pool.worker.settle(), process_pool.replayer.settle())
            assert fake.forked[forked:] == expected
        await process.end()


async def test_without_device_first_compiler_waits_for_first_worker(
    employ: Employ, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, process_pool = employ()
    withheld: list[tuple[int, bytes]] = []
    with monkeypatch.context() as patched:
        patched.setattr(fake, "say", lambda pid, line: withheld.append((pid, line)))
        process_pool.begin()
        for _ in range(20):
            await asyncio.sleep(0)
    assert fake.forked == ["worker", "worker"]
    for pid, line in withheld:
        fake.say(pid, line)
    await process_pool.wait_until_warm()
    assert sorted(fake.forked) == ["compiler", "judge", "worker", "worker"]


@pytest.mark.parametrize(
    ("command", "deadline_s"),
    [
        (protocol.PrepareBaseline(id="a", name="compile-max"), 900),
        (protocol.MeasurePeaks(id="a"), 180),
        (
            protocol.Arrange(id="a", problem=ProblemId(source="m", name="P"), case="c", most_slots=4, most_bytes=4096),
            180,
        ),
        (protocol.FreeSlots(id="a"), 60),
        (
            protocol.TimeBaseline(
                id="a", name="eager", slots=(0,), mode=protocol.CallMode.SINGLE, cache=CacheState.COLD
            ),
            60,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_judge_deadline_follows_the_command(
    employ: Employ, command: protocol.AnyCommand, deadline_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    async def waiting(reply: asyncio.Future[protocol.AnyReply], *, limit_s: float, **_: object) -> protocol.AnyReply:
        given.append(limit_s)
        return await reply

    _, process_pool = employ()
    await process_pool.judge()
    monkeypatch.setattr("engine.processes.child.within", waiting)
    await process_pool.ask_judge(command)
    assert given == [deadline_s]


@pytest.mark.parametrize(
    ("command", "is_kept"),
    [
        (protocol.PrepareBaseline(id="a", name="compile-max"), False),
        (protocol.MeasurePeaks(id="a"), False),
        (protocol.FreeSlots(id="a"), True),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_judge_busy_after_cancelled_run_is_replaced(
    employ: Employ, command: protocol.AnyCommand, is_kept: bool
) -> None:
    asked = asyncio.Event()

    def silent(kind: str, command: protocol.AnyCommand) -> None:
        asked.set()

    _, process_pool = employ(silent)
    judge = await process_pool.judge()
    asking = asyncio.create_task(process_pool.ask_judge(command))
    await asked.wait()
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    assert judge.alive is is_kept


@pytest.mark.parametrize("error", [DeadlineError, MachineBusyError])
async def test_judge_that_did_not_answer_is_replaced(
    employ: Employ, error: type[EngineError], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> None:
        raise error("no reply")

    _, process_pool = employ()
    first = await process_pool.judge()
    with monkeypatch.context() as patched:
        patched.setattr("engine.processes.child.within", never)
        with pytest.raises(error):
            await process_pool.ask_judge(protocol.FreeSlots(id="a"))
    assert not first.alive
    assert await process_pool.judge() is not first


async def test_waiting_compilers_do_not_count_as_processes_of_a_run(
    employ: Employ, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, process_pool = employ(target="sm_90")
    judge = await process_pool.judge()
    process_pool.prepare_compilers()
    await process_pool.compiler.settle()
    await process_pool.module_compiler.settle()
    excluded: list[int] = []
    monkeypatch.setattr("engine.processes.process_pool.usage_below", lambda *_, trusted, **__: excluded.extend(trusted))
    monkeypatch.setattr(CompilerWarming, "pids", (7,))
    process_pool.usage()
    assert excluded == [judge.pid, *process_pool.compiler.pids, *process_pool.module_compiler.pids, 7]
    assert process_pool.compiler.pids
    assert process_pool.module_compiler.pids


async def test_judge_memory_is_shared_only_with_a_device(employ: Employ) -> None:
    assert [employ(target=target)[1].shares_device for target in (None, "sm_90")] == [False, True]


async def test_launchers_are_kept_only_for_device_with_target(employ: Employ) -> None:
    kept = [employ(target=target)[1].launchers for target in (None, "sm_90")]
    assert kept[0] is None
    assert kept[1] is not None
    assert kept[1].cache_folder.is_dir()


async def test_closing_leaves_no_directory(employ: Employ, directories: EngineDirectories) -> None:
    _, process_pool = employ(target="sm_90")
    process_pool.begin()
    await process_pool.wait_until_warm()
    await process_pool.close()
    await process_pool.close()
    assert [place.name for place in directories.folder.iterdir() if place.name.isdecimal()] == []


@pytest.mark.parametrize("broken", [True, False])
async def test_judge_with_broken_device_is_replaced(employ: Employ, broken: bool) -> None:
    def failing(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        return protocol.Failed(
            id=command.id, kind=protocol.FailureKind.ENGINE, message="device-side assert", broken=broken
        )

    fake, process_pool = employ(failing)
    reply = await process_pool.ask_judge(protocol.Release(id="a"))
    assert isinstance(reply, protocol.Failed)
    await process_pool.ask_judge(protocol.Release(id="b"))
    assert fake.forked == ["judge"] * (2 if broken else 1)
