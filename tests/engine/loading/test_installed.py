"""Which files of an author's folder are the author's: not those of packages, of Python and of the engine below it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch

import engine.worker.main
from engine.loading.installed import is_in_folder, is_in_package, is_python_or_engine, is_standard


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


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_package_is_known_by_folder_and_name(folder: str) -> None:
    file = f"/usr/lib/python3/{folder}/triton/runtime/jit.py"
    assert is_in_package(file)
    assert is_in_package(file, "torch", "triton")
    assert not is_in_package(file, "tri")
    assert not is_in_package(f"/home/a/{folder}.py")


def test_folder_beside_the_engine_is_not_the_engine() -> None:
    engine_folder = str(Path(engine.worker.main.__file__).parents[1])
    assert is_python_or_engine(engine.worker.main.__file__)
    assert not is_python_or_engine(f"{engine_folder}_kernels/helper.py")
