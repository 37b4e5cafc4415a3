"""Files of packages, of Python and of the engine are not an author's, wherever they are."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch

import engine.worker.main
from engine.worker.installed import is_installed


@pytest.mark.parametrize("module", [contextlib, torch, engine.worker.main])
def test_file_of_a_library_is_installed(module: object) -> None:
    assert is_installed(str(getattr(module, "__file__", "")))


@pytest.mark.parametrize("file", ["/home/a/project/.venv/lib/python3.12/site-packages/lib/x.py", "/a/dist-packages/b"])
def test_file_of_any_environment_is_installed(file: str) -> None:
    assert is_installed(file)


@pytest.mark.parametrize(
    "file",
    ["/home/a/kernel.py", "/home/a/site-packages.py", f"{Path(engine.worker.main.__file__).parents[1]}s/kernel.py"],
)
def test_other_file_is_not_installed(file: str) -> None:
    assert not is_installed(file)
