"""The launches of a run for other targets: in which order, what is told, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.model import Candidate, Launch, Limits, Outcome, events
from engine.run.retarget import Retargeting

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)
TARGETS = ("sm_80", "gfx942")
Answer = Callable[[str, protocol.AnyCommand], protocol.AnyReply | None]


def compile_all(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    match command:
        case protocol.Compile():
            form = "cubin" if command.target.startswith("sm") else "amdgcn"
            name = f"{command.id}.{form}"
            (Path(command.folder) / name).write_bytes(b"code")
            return protocol.Compiled(id=command.id, stages={form: name}, registers=40)
        case protocol.Disassemble():
            name = f"{command.id}.sass"
            (Path(command.folder) / name).write_bytes(b"text")
            return protocol.Compiled(id=command.id, stages={"sass": name})
        case _:
            return protocol.Done(id=command.id)


def refuse_amd(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.Compile) and command.target == "gfx942":
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="no such instruction")
    return compile_all(kind, command)


def retargeting_of(
    employ: Employ, folder: Path, answer: Answer, launches: tuple[Launch, ...], after_s: float
) -> Retargeting:
    _, process_pool = employ(answer)
    return Retargeting(
        candidate=Candidate(source=b"", problem="toy::twice"),
        entry="f",
        launches=launches,
        targets=TARGETS,
        process_pool=process_pool,
        artefacts=ArtefactStore(folder=folder),
        limits=Limits(),
        after_s=after_s,
    )


async def all_of(porting: Retargeting) -> list[events.Event]:
    return [event async for event in porting.stream(asyncio.Event())]


async def test_each_specialisation_is_compiled_once_for_each_target(employ: Employ, tmp_path: Path) -> None:
    launches = (LAUNCH, replace(LAUNCH, grid=(9,)), replace(LAUNCH, num_warps=8))
    emitted = await all_of(retargeting_of(employ, tmp_path, compile_all, launches, 0.0))
    assert [
        (event.number, event.total, event.kernel.target) for event in emitted if isinstance(event, events.KernelPorted)
    ] == [(1, 4, "sm_80"), (2, 4, "sm_80"), (3, 4, "gfx942"), (4, 4, "gfx942")]


async def test_retarget_emits_start_and_end(employ: Employ, tmp_path: Path) -> None:
    emitted = await all_of(retargeting_of(employ, tmp_path, compile_all, (LAUNCH,), 0.0))
    assert isinstance(emitted[0], events.PortingStarted)
    assert (emitted[0].targets, emitted[0].launches) == (TARGETS, 1)
    assert isinstance(emitted[-1], events.PortingFinished)
    assert emitted[-1].outcome is Outcome.PASS


async def test_machine_code_follows_all_targets(employ: Employ, tmp_path: Path) -> None:
    emitted = await all_of(retargeting_of(employ, tmp_path, compile_all, (LAUNCH, replace(LAUNCH, num_warps=8)), 0.0))
    assert [type(event).__name__ for event in emitted[1:-1]] == ["KernelPorted"] * 4 + ["PortDisassembled"] * 2
    assert [event.number for event in emitted if isinstance(event, events.PortDisassembled)] == [1, 2]


async def test_failing_target_stops_no_other(employ: Employ, tmp_path: Path) -> None:
    emitted = await all_of(retargeting_of(employ, tmp_path, refuse_amd, (LAUNCH,), 0.0))
    ported = [event.kernel for event in emitted if isinstance(event, events.KernelPorted)]
    assert [(kernel.target, kernel.outcome, kernel.message) for kernel in ported] == [
        ("sm_80", Outcome.PASS, ""),
        ("gfx942", Outcome.COMPILE_ERROR, "no such instruction"),
    ]


async def test_retarget_times_continue_those_of_run(employ: Employ, tmp_path: Path) -> None:
    emitted = await all_of(retargeting_of(employ, tmp_path, compile_all, (LAUNCH,), 1000.0))
    times = [event.at_s for event in emitted]
    assert times == sorted(times)
    assert times[0] >= 1000.0


async def test_cancelling_keeps_compiled_targets(employ: Employ, tmp_path: Path) -> None:
    def silent_for_amd(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        is_amd = isinstance(command, protocol.Compile) and command.target == "gfx942"
        return None if is_amd else compile_all(kind, command)

    cancelled, emitted = asyncio.Event(), []
    async for event in retargeting_of(employ, tmp_path, silent_for_amd, (LAUNCH,), 0.0).stream(cancelled):
        emitted.append(event)
        if isinstance(event, events.KernelPorted):
            cancelled.set()
    assert [type(event).__name__ for event in emitted] == ["PortingStarted", "KernelPorted", "PortingFinished"]
    assert isinstance(emitted[-1], events.PortingFinished)
    assert emitted[-1].outcome is Outcome.CANCELLED
