"""A run whose worker asks for an extension: it is built, and the candidate loaded again; or it ends with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import Candidate, Limits, Location, Outcome, OutputReport, Plan, Severity, Stage, events
from engine.model.native import NativeLanguage
from engine.processes.builds.extensions import Extensions, Toolchain
from engine.run.engine_resources import EngineResources
from engine.run.native.building import NOTE
from engine.run.pipeline import Run
from tests.engine.run.device_run import PROBLEM
from tests.engine.run.right_replies import reply_to

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

TEXT = "\n__global__ void k(float* x) { *x = y; }\nvoid go(torch::Tensor x) { k<<<1, 1>>>(0); }\n"
SOURCE = (
    "from torch.utils.cpp_extension import load_inline\n"
    f"CUDA = '''{TEXT}'''\n"
    "m = load_inline('mine', '', CUDA, functions=['go'])\n"
    "def f(x):\n    return m.go(x)\n"
)
SOURCES = (protocol.NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text=TEXT),)
REQUEST = protocol.ExtensionRequest(name="mine", sources=SOURCES, functions={"go": "go"}, with_cuda=True)
KERNEL = protocol.NativeKernel(symbol="_Z1kPf", registers=10, spill_bytes=0, shared_bytes=64)
EDG = 'cuda_sources[0](2): error: identifier "y" is undefined\n  __global__ void k(float* x) { *x = y; }\n' + (
    " " * 37 + "^\n"
)
Reply = Callable[[protocol.BuildExtension], protocol.AnyReply]


def built(command: protocol.BuildExtension) -> protocol.AnyReply:
    """What a compiler replies that has left a library and its machine code."""
    folder = Path(command.folder)
    folder.mkdir()
    (folder / "extension.so").write_bytes(b"library")
    (folder / "extension.sass").write_bytes(b"code")
    return protocol.ExtensionBuilt(id=command.id, library="extension.so", kernels=(KERNEL,), sass="extension.sass")


class Played:
    """A run whose worker lacks an extension until it is published; `emitted` are its events."""

    def __init__(self, employ: Employ, folder: Path, reply: Reply, *, tools: Toolchain, source: str = SOURCE) -> None:
        self.builds = 0
        self.loads = 0
        self._reply = reply
        _, self.pool = employ(self._play)
        self.pool.extensions = Extensions(
            spare=self.pool.compiler, folder=self.pool.directories.open_extensions(), target="sm_90", toolchain=tools
        )
        self._folder = folder
        self._source = source
        self.emitted: list[events.Event] = []

    async def run(self) -> events.RunFinished:
        run = Run(
            Candidate(source=self._source.encode(), problem="toy::twice", filename="k.py"),
            Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None),
            EngineResources(
                process_pool=self.pool,
                artefacts=ArtefactStore(folder=self._folder),
                device=Device(platform="cpu", index=0, name="cpu"),
                limits=Limits(),
            ),
            probes=(),
        )
        self.emitted = [event async for event in run.stream(asyncio.Event())]
        finished = self.emitted[-1]
        assert isinstance(finished, events.RunFinished)
        return finished

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        match command:
            case protocol.Load():
                self.loads += 1
                assert command.extensions is not None
                if Path(command.extensions.folder, REQUEST.key, "library.so").exists():
                    return protocol.Loaded(id=command.id)
                return protocol.Failed(
                    id=command.id, kind=protocol.FailureKind.EXTENSION, message="not built", extension=REQUEST
                )
            case protocol.BuildExtension():
                self.builds += 1
                return self._reply(command)
            case _:
                return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="played to here")


TOOLS = Toolchain(nvcc="nvcc", cxx="cxx")


async def test_extension_is_built_and_candidate_loaded_again(employ: Employ, tmp_path: Path) -> None:
    played = Played(employ, tmp_path, built, tools=TOOLS)
    verdict = (await played.run()).verdict
    assert verdict.sentence == "while inputs were made: played to here"
    ended = {event.stage: event.outcome for event in played.emitted if isinstance(event, events.StageFinished)}
    assert (played.builds, ended[Stage.LOAD]) == (1, Outcome.PASS)
    notes = [event.finding.message for event in played.emitted if isinstance(event, events.FindingRaised)]
    assert notes.count(NOTE) == 1


async def test_built_kernel_is_reported_with_line_and_resources(employ: Employ, tmp_path: Path) -> None:
    played = Played(employ, tmp_path, built, tools=TOOLS)
    await played.run()
    (kernel,) = (event.kernel for event in played.emitted if isinstance(event, events.KernelCompiled))
    assert (kernel.launch.kernel, kernel.launch.line, kernel.registers, kernel.shared_bytes) == ("k", 3, 10, 64)
    assert [artefact.kind for artefact in kernel.artefacts] == ["sass"]


async def test_an_error_is_placed_inside_the_string(employ: Employ, tmp_path: Path) -> None:
    def refused(command: protocol.BuildExtension) -> protocol.AnyReply:
        return protocol.ExtensionBuilt(id=command.id, output=EDG)

    verdict = (await Played(employ, tmp_path, refused, tools=TOOLS).run()).verdict
    assert (verdict.outcome, verdict.location) == (Outcome.COMPILE_ERROR, Location(line=3, column=36))
    assert verdict.sentence == (
        "extension 'mine' does not compile: identifier \"y\" is undefined (cuda_sources[0], line 2, column 36)"
    )


async def test_source_made_at_runtime_is_located_by_call(employ: Employ, tmp_path: Path) -> None:
    def refused(command: protocol.BuildExtension) -> protocol.AnyReply:
        return protocol.ExtensionBuilt(id=command.id, output=EDG)

    source = SOURCE.replace("CUDA, functions", "make(CUDA), functions")
    verdict = (await Played(employ, tmp_path, refused, tools=TOOLS, source=source).run()).verdict
    assert (verdict.outcome, verdict.location) == (Outcome.COMPILE_ERROR, Location(line=6))


@pytest.mark.parametrize(
    ("tools", "output", "sentence"),
    [
        (
            Toolchain(),
            "",
            "extension 'mine' could not be built here: no nvcc (install the CUDA toolkit, or set CUDA_HOME)",
        ),
        (
            TOOLS,
            "cuda_sources[0]:1:10: fatal error: cudnn.h: No such file or directory\n",
            "extension 'mine' could not be built here: header cudnn.h is not installed",
        ),
    ],
)
async def test_missing_build_tool_is_unsupported(
    employ: Employ, tmp_path: Path, tools: Toolchain, output: str, sentence: str
) -> None:
    def refused(command: protocol.BuildExtension) -> protocol.AnyReply:
        return protocol.ExtensionBuilt(id=command.id, output=output)

    verdict = (await Played(employ, tmp_path, refused, tools=tools).run()).verdict
    assert (verdict.outcome, verdict.sentence) == (Outcome.UNSUPPORTED, sentence)


async def test_killed_compiler_is_engine_error(employ: Employ, tmp_path: Path) -> None:
    def killed(command: protocol.BuildExtension) -> protocol.AnyReply:
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="killed")

    verdict = (await Played(employ, tmp_path, killed, tools=TOOLS).run()).verdict
    assert verdict.outcome is Outcome.ENGINE_ERROR


async def test_correct_native_code_on_cpu_is_suspect(employ: Employ, tmp_path: Path) -> None:
    class Right(Played):
        def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
            if isinstance(command, protocol.Load | protocol.BuildExtension):
                return super()._play(kind, command)
            report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
            return reply_to(command, report)

    played = Right(employ, tmp_path, built, tools=TOOLS)
    await played.run()
    found = [event.finding for event in played.emitted if isinstance(event, events.FindingRaised)]
    assert [finding.severity for finding in found if finding.check == "no_launch"] == [Severity.SUSPECT]
