"""Files that are not the author's, even in the author's folder: packages, Python's own, and ours.

A kernel file may be in a folder that contains an environment, an interpreter or a checkout of kgtui: a home folder, or
a project with `.venv` in it.  If the kernel file is itself in a package, the files of its folder count as the author's.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
"""The names of folders with packages; Debian's Python has the second."""
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in PACKAGE_FOLDERS)
_STANDARD = tuple(f"{sysconfig.get_paths()[name]}{os.sep}" for name in ("stdlib", "platstdlib"))
_NOT_AUTHORS = (*_STANDARD, f"{Path(__file__).parents[1]}{os.sep}")


def is_in_package(file: str, *names: str) -> bool:
    """Whether the file is in a folder with packages; in one of these packages, if there are names."""
    places = (f"{folder}{name}{os.sep}" for folder in _PACKAGES for name in names) if names else iter(_PACKAGES)
    return any(place in file for place in places)


def is_python_or_engine(file: str) -> bool:
    """Whether the file is Python's own or a part of this engine."""
    return file.startswith(_NOT_AUTHORS)


def is_standard(file: str) -> bool:
    """Whether Python's standard library has this file; packages may be below its folder."""
    return file.startswith(_STANDARD) and not is_in_package(file)


def is_in_folder(file: str, folder: str) -> bool:
    """Whether an author's folder has this file, but not in a package, a standard library or this engine below it."""
    inside = f"{folder.rstrip(os.sep)}{os.sep}"
    if not file.startswith(inside):
        return False
    below = file[len(inside) - 1 :]
    return not is_in_package(below) and not any(
        file.startswith(place) for place in _NOT_AUTHORS if place.startswith(inside)
    )
