"""Which files of an author's folder are the author's: not those of packages, of Python and of the engine below it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch

import engine.worker.main
from engine.worker.installed import is_in_folder, is_standard


@pytest.mark.parametrize("module", [contextlib, torch, engine.worker.main])
def test_library_below_a_folder_is_not_the_authors(module: object) -> None:
    file = str(getattr(module, "__file__", ""))
    for folder in ("/", str(Path(file).parents[3])):
        assert not is_in_folder(file, folder)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/home/a/kernel.py", True),
        ("/home/a/lib/site-packages.py", True),
        ("/home/ab/kernel.py", False),
        ("/home/a/.venv/lib/python3.12/site-packages/lib/x.py", False),
        ("/home/a/dist-packages/b.py", False),
    ],
)
def test_file_of_a_folder_is_the_authors_outside_of_packages(file: str, expected: bool) -> None:
    assert is_in_folder(file, "/home/a") is expected


def test_neighbour_of_a_kernel_in_a_package_is_the_authors() -> None:
    assert is_in_folder(str(Path(torch.__file__)), str(Path(torch.__file__).parent))


def test_packages_are_not_standard() -> None:
    assert is_standard(contextlib.__file__)
    assert not is_standard(torch.__file__)
