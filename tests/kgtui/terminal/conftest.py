"""What the tests on a pseudo-terminal share: programs that are started on one, and ended after the test."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]


def _module(name: str) -> ModuleType:
    # importlib import mode puts no folder on the path, so the shared module is loaded by its file.
    spec = importlib.util.spec_from_file_location(f"kgtui_test_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def emulated() -> ModuleType:
    """The terminal that follows what is written."""
    return _module("emulated")


@pytest.fixture(scope="session")
def driven() -> ModuleType:
    """The programs on a pseudo-terminal."""
    return _module("driven")


@pytest.fixture
def run_on_terminal(emulated: ModuleType, driven: ModuleType, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A starter of Python programs on terminals of their own, with a home that is the test's."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "PYTHONPATH": str(PROJECT),
        "TEXTUAL_ANIMATIONS": "none",
        "OMP_NUM_THREADS": "1",
    }
    with ExitStack() as running:

        def start(*arguments: str, columns: int = 80, rows: int = 24) -> Any:
            program = driven.Driven(
                [sys.executable, *arguments],
                emulated=emulated,
                columns=columns,
                rows=rows,
                folder=tmp_path,
                environment=environment,
            )
            return running.enter_context(program)

        yield start


@pytest.fixture
def start_application(run_on_terminal: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """A starter of the application on the doubles; `breaks` names the seam that raises, `job` puts it under a shell."""

    def start(breaks: str = "", *, columns: int = 80, rows: int = 24, job: bool = False) -> Any:
        program, fakes = HERE / "application.py", HERE.parent / "fakes.py"
        shell = (str(HERE / "shell.py"), sys.executable) if job else ()
        return run_on_terminal(*shell, str(program), str(fakes), str(tmp_path), breaks, columns=columns, rows=rows)

    return start
