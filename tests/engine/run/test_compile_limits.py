"""Limits of compiling: requests, launchers, seconds and published bytes per candidate."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import Outcome
from engine.processes.directories import EngineDirectories
from tests.engine.run.compile_site import Site, compile_everything, described, warps

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


async def test_unfinished_builds_are_counted_when_run_ends_early(site: Site) -> None:
    started = asyncio.Event()
    site.answer = lambda command: (
        started.set() if isinstance(command, protocol.Compile) else compile_everything("", command)
    )
    site.builder.add(warps(4))
    site.builder.add(warps(8), described())
    running = asyncio.create_task(site.builder.run())
    await started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await site.builder.clear()
    assert (site.builder.unfinished, site.builder.kernels) == (2, [])


async def test_too_many_requests_are_reported_and_not_awaited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.run.compile_queue._MOST_JOBS", 2)
    [first], [second] = site.builder.add(warps(1)), site.builder.add(warps(2))
    assert not site.builder.overfull
    assert site.builder.add(warps(4), described("*fp32")) == []
    assert site.builder.add(warps(1)) == [first]
    await site.run()
    assert site.builder.overfull
    assert site.compiled == [1, 2]
    assert second.done()


async def test_launchers_per_candidate_are_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.run.compile_queue._MOST_LAUNCHERS", 2)
    waits = [len(site.builder.add(warps(count), described(f"i{count}"))) for count in (8, 16, 32)]
    assert waits == [2, 2, 1]
    await site.run()


async def test_compiling_beyond_time_limit_omits_the_rest(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, patience_s=0.0)
    futures = [future for count in (4, 8) for future in site.builder.add(warps(count))]
    await site.run()
    assert [future.done() for future in futures] == [True, True]
    assert {(kernel.outcome, kernel.message) for kernel in site.builder.kernels} == {
        (Outcome.UNSUPPORTED, "compilation took more than 0 s, so the rest was left out")
    }
    assert site.compiled == []


async def test_published_bytes_per_candidate_are_limited(
    employ: Employ, directories: EngineDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_file(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compile):
            return compile_everything("", command)
        name = f"KEY{command.launch.num_warps}"
        (site.cache_of(command) / name).mkdir(parents=True)
        (site.cache_of(command) / name / "k.cubin").write_bytes(b"binary")
        return protocol.Compiled(id=command.id, stages={}, cache=(f"{name}/k.cubin",))

    monkeypatch.setattr("engine.run.launch_compiler._MOST_PUBLISHED_BYTES", 2 * len(b"binary") + 1)
    site = Site(employ, directories, tmp_path)
    site.answer = with_a_file
    for count in (1, 2, 4):
        site.builder.add(warps(count), described())
    await site.run()
    assert sorted(path.name for path in site.cache_folder.iterdir()) == ["KEY1", "KEY2"]
