"""Building what was launched: what goes wrong around a kernel is never said of the kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine import wire
from engine.artefacts import ArtefactStore
from engine.compilation import Builder
from engine.desk import Desk
from engine.model import Candidate, Launch, Limits, Outcome
from engine.staff import Staff

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)


def compile_everything(kind: str, command: wire.AnyCommand) -> wire.AnyReply:
    if isinstance(command, wire.Compile):
        name = f"{command.id}.cubin"
        (Path(command.folder) / name).write_bytes(b"binary")
        return wire.Compiled(id=command.id, stages={"cubin": name})
    return wire.Done(id=command.id)


def builder_of(staff: Staff, artefacts: Path) -> Builder:
    candidate = Candidate(source=b"", problem="toy::twice")
    desk = Desk(candidate=candidate, entry="f", spare=staff.compiler, limits=Limits(), on_log=lambda *_: None)
    return Builder(
        desks=(desk,), target="sm_90", limits=Limits(), artefacts=ArtefactStore(folder=artefacts), clock=lambda: 0.0,
        on_kernel=lambda *_: None,
    )  # fmt: skip


async def test_artefacts_that_cannot_be_kept_do_not_end_the_run(employ: Employ, tmp_path: Path) -> None:
    (tmp_path / "artefacts").write_text("a file stands where the folder should be")
    _, staff = employ(compile_everything)
    builder = builder_of(staff, tmp_path / "artefacts")
    builder.add(LAUNCH)
    builder.finish()
    try:
        await builder.run()
        assert [(kernel.outcome, kernel.artefacts) for kernel in builder.kernels] == [(Outcome.PASS, ())]
    finally:
        await builder.clear()


async def test_a_binary_whose_compiler_died_later_is_passed_over(employ: Employ, tmp_path: Path) -> None:
    fake, staff = employ(compile_everything)
    builder = builder_of(staff, tmp_path)
    builder.add(LAUNCH)
    builder.add(replace(LAUNCH, num_warps=8))
    builder.finish()

    def die_at_the_second(kind: str, command: wire.AnyCommand) -> wire.AnyReply | None:
        if isinstance(command, wire.Compile) and command.launch.num_warps == 8:
            fake.die(fake.youngest)
            return None
        return compile_everything(kind, command)

    fake.answer = die_at_the_second
    try:
        await builder.run()
        await builder.disassemble(lambda *_: None)
        assert [kernel.outcome for kernel in builder.kernels] == [Outcome.PASS, Outcome.COMPILE_ERROR]
    finally:
        await builder.clear()


async def test_a_compiler_that_cannot_be_started_says_nothing_about_the_kernel(employ: Employ, tmp_path: Path) -> None:
    fake, staff = employ(compile_everything)
    fake.ready = False
    builder = builder_of(staff, tmp_path)
    builder.add(LAUNCH)
    builder.finish()
    await builder.run()
    await builder.clear()
    assert [kernel.outcome for kernel in builder.kernels] == [Outcome.UNSUPPORTED]
