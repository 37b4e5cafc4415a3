"""Launches are compiled once, published before they are reported, and shared by all that wait for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import Launch, Outcome
from engine.processes.directories import EngineDirectories
from engine.protocol.proof.binaries import Prebuilt
from tests.engine.run.compile_site import Site, compile_everything, described, warps
from tests.engine.run.proving.test_replayer import BINARY

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


def refused(command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.Compile):
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
    return compile_everything("", command)


async def test_specialisation_is_compiled_once_for_all_waiters(site: Site) -> None:
    first = site.builder.add(warps(4))
    again = site.builder.add(replace(warps(4), grid=(9,), count=7))
    other = site.builder.add(warps(8))
    assert (first == again, first == other) == (True, False)
    await site.run()
    assert site.compiled == [4, 8]
    assert site.emitted == [(1, 2, "pass"), (2, 2, "pass")]
    assert [future.done() for future in (*first, *other)] == [True, True]


async def test_launch_of_dry_run_is_not_compiled_again(site: Site) -> None:
    site.builder.add(warps(4), described("*fp32"))
    site.builder.add(warps(4))
    await site.run()
    assert site.compiled == [4]


async def test_launch_is_compiled_from_tritons_description(site: Site) -> None:
    site.builder.add(warps(4), described("*fp32"))
    site.builder.add(warps(8))
    await site.run()
    assert [command.specialisation for command in site.asked if isinstance(command, protocol.Compile)] == [
        described("*fp32"),
        "",
    ]


@pytest.mark.parametrize("lowers", [True, False], ids=["lowered", "refused"])
async def test_compile_command_carries_prebuilt_binary(
    employ: Employ, directories: EngineDirectories, tmp_path: Path, lowers: bool
) -> None:
    async def build(launch: Launch, lowered: protocol.Lowered) -> Prebuilt | None:
        options = protocol.CompileOptions.of(launch)
        return Prebuilt(ttir_digest=lowered.ttir, options=options, binary=BINARY)

    def lower(command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.Lower) and lowers:
            return protocol.Lowered(id=command.id, ttir=f"module {command.launch.num_warps}", arguments=())
        if isinstance(command, protocol.Lower):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="no")
        return compile_everything("", command)

    site = Site(employ, directories, tmp_path, build=build)
    site.answer = lower
    site.builder.add(warps(4), described("*fp32"))
    site.builder.add(warps(8))
    await site.run()
    prebuilt = [command.prebuilt for command in site.asked if isinstance(command, protocol.Compile)]
    assert [one.ttir_digest if one is not None else None for one in prebuilt] == ["module 4" if lowers else None, None]
    assert [outcome for *_, outcome in site.emitted] == ["pass", "pass"]


async def test_launcher_is_awaited_and_built_once_per_types(site: Site) -> None:
    first = site.builder.add(warps(4), described("*fp32", "i32"))
    same = site.builder.add(warps(8), described("*fp32", "i32"))
    other = site.builder.add(warps(2), described("*fp32", "i64"))
    assert (len(first), len(same), len(other)) == (2, 2, 2)
    assert (first[1] is same[1], first[1] is other[1]) == (True, False)
    await asyncio.wait([first[1], other[1]])
    await site.run()
    built = [command.types for command in site.asked if isinstance(command, protocol.BuildLauncher)]
    assert sorted(built) == [("*i8", "i32"), ("*i8", "i64")]


async def test_launch_without_dry_run_needs_no_launcher(site: Site) -> None:
    assert len(site.builder.add(warps(4))) == 1
    await site.run()
    assert [command for command in site.asked if isinstance(command, protocol.BuildLauncher)] == []


async def test_compiled_code_is_published_before_report(site: Site) -> None:
    def with_a_file(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compile):
            return compile_everything("", command)
        (site.cache_of(command) / "KEY").mkdir(parents=True)
        (site.cache_of(command) / "KEY" / "k.cubin").write_bytes(b"binary")
        (site.cache_of(command) / "secret").write_bytes(b"secret")
        return protocol.Compiled(id=command.id, stages={}, cache=("KEY/k.cubin", "secret", "../secret", "KEY/missing"))

    site.answer = with_a_file
    [done, *_] = site.builder.add(warps(4), described())
    seen: list[list[str]] = []
    done.add_done_callback(
        lambda _: seen.append([path.relative_to(site.cache_folder).as_posix() for path in site.cache_folder.rglob("*")])
    )
    await site.run()
    assert [sorted(names) for names in seen] == [["KEY", "KEY/k.cubin"]]
    assert (site.cache_folder / "KEY" / "k.cubin").read_bytes() == b"binary"


async def test_unbuilt_dry_run_specialisation_is_accepted(site: Site) -> None:
    site.answer = lambda command: (
        refused(command)
        if isinstance(command, protocol.Compile) and command.launch.num_warps == 32
        else compile_everything("", command)
    )
    unbuilt = site.builder.add(warps(32), described())
    site.builder.add(warps(4), described())
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [4]
    assert site.emitted == [(1, 1, "pass")]
    assert [future.done() for future in unbuilt] == [True]


async def test_launch_failing_for_another_target_is_failure(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False)
    site.answer = refused
    site.builder.add(warps(4))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.COMPILE_ERROR, "too many registers")
    ]


async def test_kernel_launched_here_counts_as_built(site: Site) -> None:
    site.answer = refused
    site.builder.add(warps(4))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.UNSUPPORTED, "it was launched here, but could not be compiled separately: too many registers")
    ]


@pytest.mark.parametrize("later", [False, True])
async def test_early_build_failure_is_reported_when_launched(site: Site, later: bool) -> None:
    def refuse_ahead(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.specialisation:
            if not later:
                site.builder.add(warps(4))  # while it is being compiled
            return refused(command)
        return compile_everything("", command)

    site.answer = refuse_ahead
    [ahead, *_] = site.builder.add(warps(4), described())
    running = asyncio.create_task(site.builder.run())
    await asyncio.wait([ahead])
    [again] = site.builder.add(warps(4))
    site.builder.add(warps(4))
    assert (again is ahead, again.done()) == (True, True)  # not awaited a second time
    site.builder.finish()
    await running
    await site.builder.clear()
    assert site.emitted == [(1, 1, "pass")]
    assert site.compiled == [4, 4]
    assert site.builder.unfinished == 0


async def test_each_step_of_compiling_is_profiled(site: Site) -> None:
    site.builder.add(warps(4), described())
    site.builder.add(warps(8), described())
    await site.run()
    steps = {"compile": 2, "publish kernel": 2, "describe kernel": 2, "keep compiled code": 2}
    assert {span.name: span.count for span in site.profile.spans()} == steps
