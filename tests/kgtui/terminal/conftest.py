"""What the tests on a pseudo-terminal share: programs that are started on one, and ended after the test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kgtui.terminal.driven import Driven

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]


@pytest.fixture
def run_on_terminal(tmp_path: Path) -> Iterator[Callable[..., Any]]:
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
            program = Driven(
                [sys.executable, *arguments],
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
        shell = (str(HERE / "shell.py"), sys.executable) if job else ()
        return run_on_terminal(*shell, str(HERE / "application.py"), str(tmp_path), breaks, columns=columns, rows=rows)

    return start
