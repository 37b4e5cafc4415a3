"""From a request to files, command lines and a reply, with tools that are played here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine import protocol
from engine.compiler.native.build import build
from engine.compiler.native.tools import Completed
from engine.model.native import NativeLanguage

CUDA = protocol.NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text="int cuda;")
CPP = protocol.NativeSource(label="cpp_sources[0]", language=NativeLanguage.CPP, text="int cpp;")
PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90'
ptxas info    : Function properties for _Z1aPf
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
cuda_sources[0](1): warning #177-D: variable "cuda" was declared but never referenced
"""


class Tools:
    """Plays nvcc, the C++ compiler and the linker: what each writes and how it ends, by the name of its program."""

    def __init__(self, **completed: Completed) -> None:
        self.completed = completed
        self.commands: list[Sequence[str]] = []

    def run(self, command: Sequence[str], folder: Path) -> Completed:
        self.commands.append(command)
        name = "link" if "-shared" in command else command[0]
        return self.completed.get(name, Completed(status=0, output=""))

    def command(self, name: str) -> Sequence[str]:
        """The one command line that a program was called with."""
        (found,) = (one for one in self.commands if ("link" if "-shared" in one else one[0]) == name)
        return found


def command_for(folder: Path, *sources: protocol.NativeSource, **options: object) -> protocol.BuildExtension:
    values = {"name": "mine", "sources": sources, "functions": {"go": "Go."}, "with_cuda": CUDA in sources, **options}
    request = protocol.ExtensionRequest(**values)  # type: ignore[arg-type]  # a request by construction
    return protocol.BuildExtension(
        id="i", request=request, target="sm_90", folder=str(folder / "build"), nvcc="nvcc", cxx="cxx"
    )


def test_texts_are_joined_behind_torchs_headers_and_named(tmp_path: Path) -> None:
    build(command_for(tmp_path, CUDA, CPP), run=Tools().run)
    assert (tmp_path / "build" / "main.cu").read_text() == (
        '#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n#line 1 "cuda_sources[0]"\nint cuda;\n'
    )
    assert (tmp_path / "build" / "main.cpp").read_text() == (
        '#include <torch/extension.h>\n#line 1 "cpp_sources[0]"\nint cpp;\n#line 1 "bindings"\n'
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
        'm.def("go", torch::wrap_pybind_function(go), R"kgtui(Go.)kgtui");\n}\n'
    )


def test_files_are_units_of_their_own_without_headers(tmp_path: Path) -> None:
    build(command_for(tmp_path, CUDA, CPP, joined=False, functions=None), run=Tools().run)
    assert {path.name for path in (tmp_path / "build").iterdir()} == {"unit0.cu", "unit1.cpp"}


def test_the_target_and_the_flags_reach_the_compilers(tmp_path: Path) -> None:
    tools = Tools()
    build(command_for(tmp_path, CUDA, cuda_flags=("-O1",), cxx_flags=("-g",), link_flags=("-lcublas",)), run=tools.run)
    assert {"-gencode=arch=compute_90,code=sm_90", "-O1", "-lineinfo"} <= set(tools.command("nvcc"))
    assert {"-g", "-DTORCH_EXTENSION_NAME=mine"} <= set(tools.command("cxx"))
    assert {"-lcublas", "-ltorch_cuda", "main.cu.o", "main.cpp.o"} <= set(tools.command("link"))


def test_an_architecture_of_the_candidate_replaces_the_target(tmp_path: Path) -> None:
    tools = Tools()
    build(command_for(tmp_path, CUDA, cuda_flags=("-arch=sm_90a",)), run=tools.run)
    assert [part for part in tools.command("nvcc") if "sm_90" in part] == ["-arch=sm_90a"]


def test_resources_are_reported_per_kernel_not_as_messages(tmp_path: Path) -> None:
    built = build(command_for(tmp_path, CUDA), run=Tools(nvcc=Completed(status=0, output=PTXAS)).run)
    assert isinstance(built, protocol.ExtensionBuilt)
    assert built.library
    assert built.kernels == (
        protocol.NativeKernel(symbol="_Z1aPf", registers=10, spill_bytes=16, shared_bytes=4096),
        protocol.NativeKernel(symbol="_Z1bPf", registers=8, spill_bytes=0, shared_bytes=0),
    )
    assert built.output == PTXAS.splitlines()[-1]


@pytest.mark.parametrize("tool", ["nvcc", "cxx", "link"])
def test_a_tool_that_refuses_is_quoted(tmp_path: Path, tool: str) -> None:
    tools = Tools(**{tool: Completed(status=1, output="error: no\n")})
    built = build(command_for(tmp_path, CUDA, CPP), run=tools.run)
    assert built == protocol.ExtensionBuilt(id="i", output="error: no")


@pytest.mark.parametrize("status", [-9, 137])
def test_killed_tool_is_engine_error(tmp_path: Path, status: int) -> None:
    failed = build(command_for(tmp_path, CUDA), run=Tools(nvcc=Completed(status=status, output="")).run)
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is protocol.FailureKind.ENGINE
