"""What the probe makes of reports, of a tool that did not finish, and of a machine without the sanitizer."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from engine import protocol
from engine.draws import Draws
from engine.model import Finding
from engine.model.layers import Coverage, LayerReport
from engine.probes import sanitizer
from engine.probes.lab.case_session import Lab
from tests.engine.probes.test_device_record import passed

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
ONE_ERROR = (
    "========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n"
    "=========     at add(float *)+0x90 in kernel.cu:7\n========= ERROR SUMMARY: 1 error\n"
)


def run(tool: str, report: str, **options: object) -> protocol.SanitizedRun:
    return protocol.SanitizedRun(tool=tool, report=report, **{"left_out_bytes": 0, "status": 0, **options})


@dataclass(kw_only=True)
class FakeLab:
    """Stands for a Lab whose sanitizer reports `runs`, or fails with `trouble`; `asked` are the cases that it ran."""

    runs: tuple[protocol.SanitizedRun, ...] = ()
    trouble: str = ""
    target: str | None = "sm_90"
    sanitizer: str = "/cuda/bin/compute-sanitizer"
    asked: list[str] = field(default_factory=list)
    dismissed: int = 0
    passed = (passed("large", size=9), passed("small", size=1))
    place = 0
    draws = Draws(7, "sanitizer")
    profile = SimpleNamespace(span=lambda name: contextlib.nullcontext())
    limits = SimpleNamespace(output_bytes=1)
    problem = SimpleNamespace(id=SimpleNamespace())

    @property
    def device(self) -> SimpleNamespace:
        return SimpleNamespace(platform="cuda" if self.target else "cpu", target=self.target)

    @property
    def process_pool(self) -> SimpleNamespace:
        return SimpleNamespace(sanitizer=self.sanitizer, start_sanitizer=self._start, ask_judge=self._judge)

    @property
    def session(self) -> SimpleNamespace:
        load = protocol.Load(id="l", path="/x.py", folder=None, entry="f")
        return SimpleNamespace(load_command=lambda process: load)

    def size_of(self, case: object) -> int:
        return cast(SimpleNamespace, case).size("size")

    async def _start(self) -> SimpleNamespace:
        async def end() -> None:
            self.dismissed += 1

        workspace = SimpleNamespace(shared=Path("/nowhere"), folder=Path("/nowhere"))
        return SimpleNamespace(workspace=workspace, child=SimpleNamespace(ask=self._ask), end=end)

    async def _judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        if not isinstance(command, protocol.Prepare):
            return protocol.Done(id=command.id)
        self.asked.append(command.case)
        arena = protocol.ArenaSpec(path="/nowhere/a", bytes=0, storages=())
        return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)

    async def _ask(self, command: protocol.Sanitize, *, deadline_s: float) -> protocol.AnyReply:
        if self.trouble:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=self.trouble)
        return protocol.Sanitized(id=command.id, runs=self.runs)


async def observed(lab: FakeLab) -> tuple[list[Finding], LayerReport]:
    seen = [one async for one in sanitizer.probe(cast(Lab, lab))]  # cast: the double at the seam
    (report,) = (one for one in seen if isinstance(one, LayerReport))
    return [one for one in seen if isinstance(one, Finding)], report


async def test_errors_are_findings_of_the_smallest_case() -> None:
    lab = FakeLab(runs=(run("memcheck", ONE_ERROR), run("initcheck", CLEAN)))
    (finding,), report = await observed(lab)
    assert finding.message == "memcheck: Invalid __global__ read of size 4 bytes in add(float *) at kernel.cu:7"
    assert (lab.asked, lab.dismissed, report.coverage) == (["small"], 1, Coverage.CHECKED)
    assert [fact.value for fact in report.facts] == ["1 errors", "0 errors"]


async def test_unfinished_tool_reports_its_last_line() -> None:
    lab = FakeLab(runs=(run("memcheck", CLEAN), run("racecheck", "", status=9, trouble="a\nno driver\n")))
    _, report = await observed(lab)
    assert (report.coverage, report.why) == (Coverage.NOT_CHECKED, "racecheck did not finish: no driver")


async def test_cut_report_is_not_checked() -> None:
    _, report = await observed(FakeLab(runs=(run("memcheck", CLEAN, left_out_bytes=5),)))
    assert report.why == "memcheck did not finish: its report is longer than 60,000 bytes"


async def test_sanitizer_that_cannot_start_is_an_engine_failure() -> None:
    lab = FakeLab(trouble="/cuda/bin/compute-sanitizer could not be started: Permission denied")
    _, report = await observed(lab)
    assert (report.coverage, report.why) == (Coverage.ENGINE_FAILED, lab.trouble)


async def test_missing_sanitizer_reason_names_toolkit() -> None:
    lab = FakeLab(sanitizer="")
    _, report = await observed(lab)
    assert (report.coverage, lab.asked) == (Coverage.NOT_AVAILABLE, [])
    assert report.why == "compute-sanitizer was not found; install the CUDA toolkit, or set CUDA_HOME"


async def test_other_platforms_are_not_available() -> None:
    _, report = await observed(FakeLab(target=None))
    assert report.why == "compute-sanitizer checks kernels on NVIDIA GPUs only, and this is cpu"
