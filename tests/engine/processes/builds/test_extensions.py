"""Extensions are built once, by compilers that load no candidate, and published where workers can only read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.model.native import NativeLanguage
from engine.processes.builds.extensions import Extensions, Toolchain, find_toolchain

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

TOOLS = Toolchain(nvcc="/cuda/bin/nvcc", cxx="/usr/bin/g++")
REQUEST = protocol.ExtensionRequest(
    name="mine",
    sources=(protocol.NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text="x"),),
    with_cuda=True,
)
Answer = Callable[[protocol.BuildExtension], protocol.AnyReply]


def built(command: protocol.BuildExtension) -> protocol.AnyReply:
    """What a compiler replies that has left a library and its machine code."""
    folder = Path(command.folder)
    folder.mkdir()
    (folder / "extension.so").write_bytes(b"library")
    (folder / "extension.sass").write_bytes(b"code")
    return protocol.ExtensionBuilt(id=command.id, library="extension.so", sass="extension.sass")


class Builds:
    """Extensions whose compilers are played here; `reported` is what those were asked."""

    def __init__(self, employ: Employ, folder: Path, answer: Answer) -> None:
        self.reported: list[protocol.BuildExtension] = []

        def reply(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
            assert isinstance(command, protocol.BuildExtension)
            self.reported.append(command)
            return answer(command)

        self.fork_server, pool = employ(reply)
        self.extensions = Extensions(spare=pool.compiler, folder=folder, target="sm_90", toolchain=TOOLS)


async def test_build_is_made_once_and_published_by_key(employ: Employ, tmp_path: Path) -> None:
    builds = Builds(employ, tmp_path, built)
    first = await builds.extensions.build(REQUEST, None)
    again = await builds.extensions.build(REQUEST, None)
    assert (first.is_built, first.sass, first is again, len(builds.reported)) == (True, b"code", True, 1)
    assert (tmp_path / REQUEST.key / "library.so").read_bytes() == b"library"
    assert builds.reported[0].target == "sm_90"


async def test_compile_error_is_not_an_engine_error(employ: Employ, tmp_path: Path) -> None:
    builds = Builds(employ, tmp_path, lambda command: protocol.ExtensionBuilt(id=command.id, output="error"))
    build = await builds.extensions.build(REQUEST, None)
    assert (build.is_built, build.output, list(tmp_path.iterdir())) == (False, "error", [])


@pytest.mark.parametrize(
    "answer",
    [
        lambda command: protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="killed"),
        lambda command: protocol.Done(id=command.id),
        lambda command: protocol.ExtensionBuilt(id=command.id, library="../../etc/passwd"),
    ],
    ids=["killed", "another reply", "no library"],
)
async def test_failing_compiler_is_engine_error(employ: Employ, tmp_path: Path, answer: Answer) -> None:
    builds = Builds(employ, tmp_path, answer)
    with pytest.raises(EngineError):
        await builds.extensions.build(REQUEST, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("toolchain", "target", "no_cuda", "no_cpp"),
    [
        (TOOLS, "sm_90", "", ""),
        (Toolchain(cxx="/usr/bin/g++"), "sm_90", "no nvcc (install the CUDA toolkit, or set CUDA_HOME)", ""),
        (TOOLS, None, "CUDA code requires an NVIDIA GPU, and this device is not one", ""),
        (TOOLS, "gfx942", "CUDA code requires an NVIDIA GPU, and this device is not one", ""),
    ],
)
async def test_missing_build_tool_is_reported(
    employ: Employ, tmp_path: Path, toolchain: Toolchain, target: str | None, no_cuda: str, no_cpp: str
) -> None:
    _, pool = employ()
    access = Extensions(spare=pool.compiler, folder=tmp_path, target=target, toolchain=toolchain).access
    assert (access.no_cuda, access.no_cpp) == (no_cuda, no_cpp)


def test_changed_source_or_flags_change_the_key() -> None:
    flagged = protocol.ExtensionRequest(name="mine", sources=REQUEST.sources, with_cuda=True, cuda_flags=("-O1",))
    texts = (protocol.NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text="y"),)
    changed = protocol.ExtensionRequest(name="mine", sources=texts, with_cuda=True)
    assert len({REQUEST.key, flagged.key, changed.key}) == 3


def test_compilers_are_those_of_the_environment(tmp_path: Path) -> None:
    for name in ("bin/nvcc", "bin/c++"):
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.touch(mode=0o755)
    found = find_toolchain({"CUDA_HOME": str(tmp_path), "PATH": str(tmp_path / "bin")})
    assert found == Toolchain(nvcc=str(tmp_path / "bin" / "nvcc"), cxx=str(tmp_path / "bin" / "c++"))
