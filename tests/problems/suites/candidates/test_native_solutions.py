"""Solutions in CUDA and C++ as a Python text that compiles them; load_inline is replaced, nothing is compiled."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils import cpp_extension

from problems.suites.candidates.reading import candidates_of
from problems.suites.candidates.record import SuiteCandidates
from problems.suites.scanning import format_of
from tests.problems.suites.candidates.test_candidates import SAMPLES

SUITE = SAMPLES / "flashinfer_trace"
BINDING = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("norm", &norm); }\n'
SOURCES = {
    "src/norm.h": "#pragma once\n#include <torch/extension.h>\nvoid norm(torch::Tensor x);\n",
    "src/kernel.cu": '#include "norm.h"\n__global__ void k() { printf("\\n"); }\nvoid norm(torch::Tensor x) {}\n',
    "main.cpp": f'#include "src/norm.h"\n{BINDING}',
}


def read(folder: Path, sources: dict[str, str] = SOURCES, **spec: object) -> SuiteCandidates:
    """The candidates of a folder with one Solution."""
    given = {
        "definition": "rmsnorm_h32",
        "spec": {"language": "cuda", "entry_point": "main.cpp::norm"} | spec,
        "sources": [{"path": path, "content": content} for path, content in sources.items()],
    }
    (folder / "one.json").write_text(json.dumps(given))
    return candidates_of(folder / "one.json", format_of(SUITE).read(SUITE).tasks)


def executed(folder: Path, found: SuiteCandidates) -> Any:  # Any: whatever the text binds
    """The `run` of the text of the one candidate."""
    assert found.complaints == ()
    (candidate,) = found.candidates
    (folder / "solution.py").write_text(candidate.text)
    return runpy.run_path(str(folder / "solution.py"))["run"]


def extension(*_: object) -> SimpleNamespace:
    """A built extension whose function copies its first argument to its last one, or returns it alone."""
    return SimpleNamespace(norm=lambda *given: given[-1].copy_(given[0]) if len(given) > 3 else given[0])


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:  # Any: arguments of load_inline
    """The arguments of each call of load_inline, which compiles nothing."""
    calls: list[dict[str, Any]] = []

    def load_inline(**given: Any) -> object:
        calls.append(given)
        return "library.so" if given.get("is_python_module") is False else extension()

    monkeypatch.setattr(cpp_extension, "load_inline", load_inline)
    return calls


def test_sources_are_compiled_as_the_suite_does(tmp_path: Path, built: list[dict[str, Any]]) -> None:
    run, output = executed(tmp_path, read(tmp_path)), torch.zeros(2)

    run(torch.ones(2), None, 1e-6, output)

    header = "\n#include <torch/extension.h>\nvoid norm(torch::Tensor x);\n"
    assert output.tolist() == [1.0, 1.0]
    assert built == [
        {
            "name": "solution",
            "cpp_sources": f"{header}\n{BINDING}",
            "cuda_sources": header + SOURCES["src/kernel.cu"].removeprefix('#include "norm.h"'),
            "no_implicit_headers": True,
            "with_cuda": True,
        }
    ]


def test_files_of_one_language_are_separate_units(tmp_path: Path, built: list[dict[str, Any]]) -> None:
    files = {
        "one.h": "#pragma once\nvoid go();\n",
        "a.cu": '#include "one.h"\nstatic int n;\n',
        "b.cu": '#include "one.h"\nstatic int n;\n',
    }
    executed(tmp_path, read(tmp_path, files | {"main.cpp": BINDING}))

    assert built[0].pop("separate_units")
    assert built == [
        {
            "name": "solution",
            "cpp_sources": BINDING,
            "cuda_sources": ["\nvoid go();\n\nstatic int n;\n"] * 2,
            "no_implicit_headers": True,
            "with_cuda": True,
        }
    ]


def test_returned_value_fills_the_output(tmp_path: Path, built: list[dict[str, Any]]) -> None:
    run, output = executed(tmp_path, read(tmp_path, destination_passing_style=False)), torch.zeros(2)

    run(torch.ones(2), None, 1e-6, output)

    assert (output.tolist(), len(built)) == ([1.0, 1.0], 1)


@pytest.mark.parametrize("stated", [{}, {"binding": None}, {"binding": "tvm-ffi"}])
def test_exported_functions_are_called_by_tvm_ffi(
    tmp_path: Path, built: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, stated: dict[str, object]
) -> None:
    package = ModuleType("tvm_ffi")
    found = {"find_include_path": "inc", "find_dlpack_include_path": "dl", "find_libtvm_ffi": "lib.so"}
    package.libinfo = SimpleNamespace(**{name: lambda path=path: path for name, path in found.items()})  # type: ignore[attr-defined]  # a double
    package.load_module = {"library.so": extension()}.__getitem__  # type: ignore[attr-defined]  # a double
    monkeypatch.setitem(sys.modules, "tvm_ffi", package)
    sources = {"a.cpp": "void norm();\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(norm, norm);\n"}

    run = executed(tmp_path, read(tmp_path, sources, language="cpp", entry_point="a.cpp::norm", **stated))

    output = torch.zeros(2)
    run(torch.ones(2), None, 1e-6, output)
    (given,) = built
    assert output.tolist() == [1.0, 1.0]
    assert (given["extra_include_paths"], given["extra_ldflags"], given["with_cuda"]) == (
        ["inc", "dl"],
        ["lib.so"],
        False,
    )
    assert (given["cpp_sources"], given["cuda_sources"]) == (sources["a.cpp"], [])


@pytest.mark.parametrize("text", ['norm("""x""")\n', "norm \\", 'norm "', "norm\0"])
def test_text_that_ends_a_literal_is_unchanged(tmp_path: Path, built: list[dict[str, Any]], text: str) -> None:
    executed(tmp_path, read(tmp_path, {"a.cu": text}, entry_point="a.cu::norm", binding="torch"))

    assert built[0]["cuda_sources"] == text


@pytest.mark.parametrize(
    ("sources", "spec", "reason"),
    [
        (SOURCES, {"entry_point": "src/norm.h::norm"}, "in src/norm.h, which is not a CUDA or C++ file"),
        (SOURCES, {"entry_point": "main.cpp::other"}, "its entry_point other is not in its sources"),
        (SOURCES, {"binding": "cffi"}, "its binding is 'cffi'; known bindings: torch, tvm-ffi"),
        (SOURCES, {"language": "tilelang"}, "written in tilelang; Python, Triton, CUDA and C++ solutions are read"),
    ],
)
def test_solution_that_cannot_be_compiled_complains(
    tmp_path: Path, sources: dict[str, str], spec: dict[str, object], reason: str
) -> None:
    found = read(tmp_path, sources, **spec)

    assert found.candidates == ()
    assert reason in found.complaints[0]
