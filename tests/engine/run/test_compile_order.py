"""The order of compiling: a held builder, the first specialisation of every kernel, expected launches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import Case, DType, Launch, Outcome, OutputReport, Tier, Verdict
from engine.model.events import CaseFinished, RunFinished
from engine.processes.directories import EngineDirectories
from tests.engine.run.compile_site import Site, compile_everything, described, warps
from tests.engine.run.device_run import LAUNCH, DeviceRun

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

PATIENCE_S = 90.0  # less than a dry run may take in total, after which no case waits


async def test_builder_is_idle_until_launch_is_added(site: Site) -> None:
    assert site.builder.idle
    site.builder.add(warps(4))
    assert not site.builder.idle
    await site.run()


async def test_compilers_load_candidate_before_first_launch(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=3)
    await site.run()
    assert [type(command) for command in site.asked] == [protocol.Load] * 3


async def test_later_compilers_load_only_when_launches_wait(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=3, loads_ahead=1)
    running = asyncio.create_task(site.builder.run())
    await asyncio.wait(site.builder.add(warps(4)))
    assert [type(command) for command in site.asked] == [protocol.Load, protocol.Compile]
    site.builder.finish()
    await running
    assert len(site.asked) == 2
    await site.builder.clear()


async def test_waiting_launches_begin_one_compiler_each(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=3, loads_ahead=1)
    running = asyncio.create_task(site.builder.run())
    await asyncio.wait([done for count in (1, 2) for done in site.builder.add(warps(count))])
    site.builder.finish()
    await running
    assert (sorted(site.compiled), len(site.fork_server.forked)) == ([1, 2], 2)
    await site.builder.clear()


async def test_several_compilers_share_the_work(employ: Employ, directories: EngineDirectories, tmp_path: Path) -> None:
    site = Site(employ, directories, tmp_path, sessions=3)
    for count in (1, 2, 4, 8, 16):
        site.builder.add(warps(count))
    await site.run()
    assert sorted(site.compiled) == [1, 2, 4, 8, 16]
    assert len(site.fork_server.forked) == 3
    assert [number for number, _, _ in site.emitted] == [1, 2, 3, 4, 5]


async def test_settling_waits_only_for_added_launches(site: Site) -> None:
    running = asyncio.create_task(site.builder.run())
    await site.builder.settle()
    [future] = site.builder.add(warps(4))
    await site.builder.settle()
    assert future.done()
    assert not running.done()
    site.builder.finish()
    await running
    await site.builder.clear()


async def test_held_builder_compiles_nothing_before_release(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    running = asyncio.create_task(site.builder.run())
    [compiled] = site.builder.add(warps(4))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (site.builder.held, site.asked) == (True, [])
    site.builder.release()
    await compiled
    assert (site.builder.held, site.compiled) == (False, [4])
    site.builder.finish()
    await running
    await site.builder.clear()


async def test_held_builder_ends_when_run_ends_early(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    site.builder.add(warps(4))
    await site.run()
    assert (site.compiled, site.builder.unfinished) == ([4], 0)


async def test_every_kernel_is_compiled_once_before_further_specialisations(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    for launch in (warps(1), warps(2), replace(warps(3), kernel="second"), replace(warps(4), kernel="second")):
        site.builder.add(launch)
    await site.run()
    assert site.compiled == [1, 3, 2, 4]


async def test_rest_of_specialisations_is_left_out_on_request(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    added = (warps(1), warps(2), warps(8), replace(warps(3), kernel="second"), replace(warps(4), kernel="second"))
    futures = [future for launch in added for future in site.builder.add(launch)]
    site.builder.leave_out_rest([warps(8), warps(32)])
    await site.run()
    assert site.compiled == [1, 3, 8]
    assert (site.builder.left_out, site.builder.unfinished) == (2, 0)
    assert [future.done() for future in futures] == [True] * len(added)
    assert site.emitted == [(1, 5, "pass"), (2, 5, "pass"), (3, 5, "pass")]


async def test_kernels_for_the_own_device_keep_their_order(site: Site) -> None:
    for launch in (warps(1), warps(2), replace(warps(3), kernel="second")):
        site.builder.add(launch)
    await site.run()
    assert site.compiled == [1, 2, 3]


async def test_large_launches_for_the_own_device_come_first(site: Site) -> None:
    def tile(count: int, elements: int) -> Launch:
        return replace(warps(count), constants={"ROWS": "2", "COLS": str(elements // 2), "EPS": "1e-06", "ALONE": "1"})

    for launch in (tile(1, 512), tile(2, 1024), tile(4, 8192), tile(8, 8192)):
        site.builder.add(launch)
    await site.run()
    assert site.compiled == [4, 8, 1, 2]


class _HeldReplies:
    """Runs the builder of a site, and holds the reply to each compile until `reply`; `end` replies to all others."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._pending: dict[int, tuple[int, protocol.AnyCommand]] = {}
        self._begun: list[int] = []
        self._changed = asyncio.Event()
        site.answer = self._hold
        self._running = asyncio.create_task(site.builder.run())

    def _hold(self, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compile):
            return compile_everything("", command)
        self._begun.append(command.launch.num_warps)
        self._pending[command.launch.num_warps] = (self._site.fork_server.serving, command)
        self._changed.set()
        return None

    async def until_begun(self, count: int) -> list[int]:
        """The warps of the launches that were begun, in this order, once there are so many."""
        while len(self._begun) < count:
            self._changed.clear()
            await self._changed.wait()
        for _ in range(20):  # another compiler would begin now
            await asyncio.sleep(0)
        return list(self._begun)

    def reply(self, *launches: int) -> None:
        """Reply to the compiles of the launches with these warps."""
        for count in launches:
            pid, command = self._pending.pop(count)
            self._site.fork_server.say(pid, protocol.encode(protocol.Compiled(id=command.id, stages={})))

    async def end(self) -> None:
        """Reply to all compiles that have begun, and wait for the end of the builder."""
        self._site.builder.finish()
        self.reply(*self._pending)
        await self._running
        await self._site.builder.clear()


async def test_kept_compiler_takes_large_launches_while_more_are_expected(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=6)
    replies = _HeldReplies(site)
    with site.builder.expecting_launches():
        for count in range(1, 8):
            site.builder.add(warps(count))
        assert await replies.until_begun(5) == [1, 2, 3, 4, 5]
        site.builder.add(replace(warps(16), constants={"COLS": "65536"}))
        assert await replies.until_begun(6) == [1, 2, 3, 4, 5, 16]
        replies.reply(16, 3)
        assert await replies.until_begun(7) == [1, 2, 3, 4, 5, 16, 6]
    assert await replies.until_begun(8) == [1, 2, 3, 4, 5, 16, 6, 7]
    await replies.end()


async def test_nothing_is_to_be_begun_without_compilers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("an internal error")

    monkeypatch.setattr(site.builder._compiler, "compile", fail)
    for count in (1, 2, 3):
        site.builder.add(warps(count))
    all_begun = asyncio.create_task(site.builder.all_begun())
    with pytest.raises(RuntimeError, match="an internal error"):
        await site.run()
    site.builder.add(warps(4))
    await asyncio.wait_for(all_begun, PATIENCE_S)
    await asyncio.wait_for(site.builder.all_begun(), PATIENCE_S)


async def test_kernels_are_described_when_no_launch_waits(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path)
    for count in (1, 2, 3, 4):
        site.builder.add(warps(count), described())
    await site.run()
    warps_by_id = {
        command.id: command.launch.num_warps for command in site.asked if isinstance(command, protocol.Compile)
    }
    steps = [
        ("describe", warps_by_id[command.compiled]) if isinstance(command, protocol.DescribeCompiled)
        else ("compile", warps_by_id[command.id])
        for command in site.asked
        if isinstance(command, protocol.Compile | protocol.DescribeCompiled)
    ]  # fmt: skip
    assert steps[:6] == [("compile", count) for count in (1, 2, 3)] + [("describe", 3), ("compile", 4), ("describe", 4)]
    assert steps[6:] == [("describe", 1), ("describe", 2)]
    assert site.emitted == [(number, 4, "pass") for number in (1, 2, 3, 4)]


async def test_all_is_begun_when_the_last_launch_has_a_compiler(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=2)
    replies = _HeldReplies(site)
    for count in (1, 2, 3):
        site.builder.add(warps(count))
    all_begun = asyncio.create_task(site.builder.all_begun())
    assert await replies.until_begun(2) == [1, 2]
    assert not all_begun.done()
    replies.reply(1)
    assert await replies.until_begun(3) == [1, 2, 3]
    assert all_begun.done()
    await replies.end()


@pytest.mark.parametrize(
    ("sessions", "own", "used"),
    [(5, True, 5), (6, True, 5), (12, True, 10), (8, False, 8)],
    ids=["five", "six", "twelve", "another target"],
)
async def test_one_of_six_compilers_is_kept_while_launches_are_expected(
    employ: Employ, directories: EngineDirectories, tmp_path: Path, sessions: int, own: bool, used: int
) -> None:
    site = Site(employ, directories, tmp_path, sessions=sessions, own=own)
    replies = _HeldReplies(site)
    with site.builder.expecting_launches():
        for count in range(1, sessions + 1):
            site.builder.add(warps(count))
        assert sorted(await replies.until_begun(used)) == list(range(1, used + 1))
    assert sorted(await replies.until_begun(sessions)) == list(range(1, sessions + 1))
    await replies.end()


async def test_kept_compiler_ends_with_the_others(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=6)
    with site.builder.expecting_launches():
        site.builder.add(warps(4))
        await site.run()
    assert site.compiled == [4]


async def test_expected_launches_are_skipped_once_not_awaited(site: Site) -> None:
    expected = site.builder.add(warps(8), described())
    launched = site.builder.add(warps(4))
    site.builder.expect_no_more()
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [4]
    assert (site.emitted, site.builder.unfinished) == ([(1, 1, "pass")], 0)
    assert [future.done() for future in (*expected, *launched)] == [True, True]


async def test_skipped_launch_is_compiled_when_launched(site: Site) -> None:
    site.builder.add(warps(8), described())
    site.builder.expect_no_more()
    site.builder.add(warps(8))
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [8]


@dataclass(frozen=True, kw_only=True)
class _HeldRun:
    """The cases of a run in the order of their ends; `workers` were forked before the held kernel was compiled."""

    finished: list[str]
    workers: int
    verdict: Verdict


async def run_with_a_compile_held(device_run: DeviceRun, held: str, *, until: str, until_workers: int = 0) -> _HeldRun:
    """Run four cases with a kernel each; one is compiled when another has ended and so many workers are forked."""
    cases = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in "abcd")
    launches = {case.name: replace(LAUNCH, constants={"BLOCK": case.name}) for case in cases}
    late: list[tuple[int, protocol.AnyCommand]] = []
    answer_case = device_run.changes

    def launching(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.RunDry(case=name):
                expected = protocol.SuppressedLaunch(launch=launches[name], specialisation=described("*fp32"))
                return protocol.DryRunDone(id=command.id, launches=(expected,))
            case protocol.Call(case=name):
                return protocol.Called(id=command.id, returned=(), launches=(launches[name],), elapsed_s=0.0)
            case protocol.Compile(launch=launch) if launch == launches[held]:
                late.append((device_run.fork_server.serving, command))
        return answer_case(kind, command)

    device_run.changes = launching
    answer = device_run.fork_server.answer

    def hold_the_first_of_late(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes | None:
        reply = answer(kind, command)
        return None if [one for _, one in late] == [command] else reply

    device_run.fork_server.answer = hold_the_first_of_late
    finished: list[str] = []
    workers = 0
    verdict: Verdict | None = None
    async with asyncio.timeout(PATIENCE_S):
        async for event in device_run.open(*cases).stream(asyncio.Event()):
            if isinstance(event, CaseFinished):
                finished.append(event.result.case)
                if event.result.case == until:
                    [(pid, compile_late)] = late
                    while device_run.fork_server.forked.count("worker") < until_workers:
                        await asyncio.sleep(0)
                    workers = device_run.fork_server.forked.count("worker")
                    device_run.fork_server.say(pid, protocol.encode(protocol.Compiled(id=compile_late.id, stages={})))
            elif isinstance(event, RunFinished):
                verdict = event.verdict
    compiled = [one.launch for one in device_run.commands(protocol.Compile) if isinstance(one, protocol.Compile)]
    assert compiled == list(launches.values())
    assert verdict is not None
    return _HeldRun(finished=finished, workers=workers, verdict=verdict)


async def test_first_case_runs_before_the_last_kernel_compiles(device_run: DeviceRun) -> None:
    run = await run_with_a_compile_held(device_run, "d", until="c")
    assert run.finished == ["a", "b", "c", "d"]


async def test_next_workers_are_begun_before_the_last_kernel_is_compiled(device_run: DeviceRun) -> None:
    run = await run_with_a_compile_held(device_run, "d", until="c", until_workers=4)
    assert run.workers == 4


async def test_verdict_names_the_first_failed_case_of_the_plan(device_run: DeviceRun) -> None:
    def wrong(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compare):
            return None
        report = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, shape=(4,), dtype="float32", message="not 4")
        return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)

    device_run.changes = wrong
    device_run.process_pool.most_compilers = 2  # one is held
    run = await run_with_a_compile_held(device_run, "a", until="d")
    assert run.finished == ["b", "c", "d", "a"]
    assert run.verdict.sentence == "4 of 4 cases failed, first a: not 4"
