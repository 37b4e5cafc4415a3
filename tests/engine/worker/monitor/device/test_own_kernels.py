"""Which functions are of the candidate's kernels, told where Triton loads a binary."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from triton.compiler.compiler import ASTSource, CompiledKernel

from engine.worker.monitor.device.own_kernels import OwnKernels

HERE = Path(__file__).parent


class Kernel:
    """As much of a JIT function as a source has."""

    def __init__(self, function: Any) -> None:
        self.fn = function


def mine() -> None:
    """A function of this file."""


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnKernels]:
    """Over a Triton that loads without a device."""

    def load(kernel: Any) -> None:
        kernel.function = kernel.handle

    monkeypatch.setattr(CompiledKernel, "_init_handles", load)
    yield OwnKernels()


def loaded(handle: object, source: object) -> None:
    kernel = CompiledKernel.__new__(CompiledKernel)
    kernel.handle, kernel.src, kernel.module = handle, source, None
    kernel._init_handles()


def of_function(function: Any) -> ASTSource:
    source = ASTSource.__new__(ASTSource)
    source.fn = Kernel(function)
    return source


def test_kernel_of_candidate_folder_is_own(own: OwnKernels) -> None:
    loaded(11, of_function(mine))
    own.belong_to(HERE)
    assert (own.owns(11), own.file_of(11)) == (True, __file__)


def test_a_kernel_of_another_folder_is_not(own: OwnKernels) -> None:
    loaded(11, of_function(mine))
    own.belong_to(HERE / "elsewhere")
    assert (own.owns(11), own.file_of(11)) == (False, __file__)


def test_kernel_of_a_package_in_the_candidate_folder_is_not(own: OwnKernels) -> None:
    of_package = types.FunctionType(mine.__code__.replace(co_filename=str(HERE / ".venv/site-packages/lib.py")), {})
    loaded(11, of_function(of_package))
    own.belong_to(HERE)
    assert not own.owns(11)


def test_kernel_without_function_has_no_owner(own: OwnKernels) -> None:
    loaded(11, object())
    own.belong_to(HERE)
    assert (own.owns(11), own.file_of(11)) == (False, "")


def test_function_not_loaded_by_triton_has_no_owner(own: OwnKernels) -> None:
    own.belong_to(HERE)
    assert (own.owns(12), own.owns(None), own.file_of(None)) == (False, False, "")


def code_in(path: Path, text: str) -> dict[str, Any]:
    """The names of a module of this text, which believes to lie at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    return names


WRITES = """
import os
from pathlib import Path

def write(path, text):
    unfinished = Path(path).with_suffix(".tmp")
    unfinished.write_text(text)
    os.replace(unfinished, path)
"""


@pytest.mark.parametrize(("author", "is_own"), [("candidate/kernel.py", True), ("site-packages/library.py", False)])
def test_generated_file_has_owner_of_writing_code(own: OwnKernels, tmp_path: Path, author: str, is_own: bool) -> None:
    own.belong_to(tmp_path / "candidate")
    own.follow_writes()
    write = code_in(tmp_path / author, WRITES)["write"]
    generated = tmp_path / "cache" / "generated.py"
    generated.parent.mkdir()
    write(generated, "def pointwise():\n    pass\n")
    loaded(11, of_function(code_in(generated, generated.read_text())["pointwise"]))
    assert (own.owns(11), own.file_of(11)) == (is_own, str(generated))


def test_file_generated_by_generated_file_is_own(own: OwnKernels, tmp_path: Path) -> None:
    own.belong_to(tmp_path / "candidate")
    own.follow_writes()
    first, second = tmp_path / "cache" / "first.py", tmp_path / "cache" / "second.py"
    first.parent.mkdir()
    code_in(tmp_path / "candidate" / "kernel.py", WRITES)["write"](first, WRITES)
    code_in(first, WRITES)["write"](second, "")
    loaded(11, of_function(code_in(second, "def pointwise():\n    pass\n")["pointwise"]))
    assert own.owns(11)


ATTEMPTS = """
import contextlib
import os

def fail(path):
    with contextlib.suppress(FileExistsError):
        open(path, "x")

def append_nothing(path):
    open(path, "a").close()

def rename_nothing(path):
    unfinished = f"{path}.tmp"
    open(unfinished, "w").close()
    os.unlink(unfinished)
    with contextlib.suppress(FileNotFoundError):
        os.replace(unfinished, path)
"""


@pytest.mark.parametrize("attempt", ["fail", "append_nothing", "rename_nothing"])
def test_file_opened_but_not_changed_is_not_own(own: OwnKernels, tmp_path: Path, attempt: str) -> None:
    library, text = tmp_path / "site-packages" / "library.py", "def pointwise():\n    pass\n"
    pointwise = code_in(library, text)["pointwise"]
    library.write_text(text)
    own.belong_to(tmp_path / "candidate")
    own.follow_writes()
    code_in(tmp_path / "candidate" / "kernel.py", ATTEMPTS)[attempt](library)
    loaded(11, of_function(pointwise))
    assert not own.owns(11)


def test_file_that_the_candidate_overwrote_is_own(own: OwnKernels, tmp_path: Path) -> None:
    generated = tmp_path / "cache" / "generated.py"
    generated.parent.mkdir()
    generated.write_text("")
    own.belong_to(tmp_path / "candidate")
    own.follow_writes()
    code_in(tmp_path / "candidate" / "kernel.py", WRITES)["write"](generated, "def pointwise():\n    pass\n")
    loaded(11, of_function(code_in(generated, generated.read_text())["pointwise"]))
    assert own.owns(11)
