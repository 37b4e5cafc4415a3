"""Runs nvcc and the C++ compiler; the only module that does."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_TOOL_S = 1800.0  # a guard: the parent counts the time of this process and of its tools


@dataclass(frozen=True, kw_only=True)
class Completed:
    """Result of a tool: its exit status, negative for a signal, and its whole output."""

    status: int
    output: str


Run: TypeAlias = Callable[[Sequence[str], Path], Completed]
"""A command line and the folder that it runs in."""


def run_tool(command: Sequence[str], folder: Path) -> Completed:
    """Run a tool to its end.

    Raises:
        OSError: it cannot be started.
    """
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", timeout=_TOOL_S, check=False,
    )  # fmt: skip
    return Completed(status=done.returncode, output=done.stdout)
