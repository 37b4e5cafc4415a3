"""Files that are not the author's, even in the author's folder: packages, Python's own, and ours.

A kernel file may be in a folder that contains an environment, an interpreter or a checkout of kgtui: a home folder, or
a project with `.venv` in it.  A file that is itself in a package, opened from there, has its neighbours with it.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STANDARD = tuple(f"{sysconfig.get_paths()[name]}{os.sep}" for name in ("stdlib", "platstdlib"))
_NOT_AUTHORS = (*_STANDARD, f"{Path(__file__).parents[1]}{os.sep}")


def is_standard(file: str) -> bool:
    """Whether Python's standard library has this file; packages may be below its folder."""
    return file.startswith(_STANDARD) and not any(part in file for part in _PACKAGES)


def is_in_folder(file: str, folder: str) -> bool:
    """Whether an author's folder has this file, but not in a package, a standard library or this engine below it."""
    inside = f"{folder.rstrip(os.sep)}{os.sep}"
    if not file.startswith(inside):
        return False
    below = file[len(inside) - 1 :]
    return not any(part in below for part in _PACKAGES) and not any(
        file.startswith(place) for place in _NOT_AUTHORS if place.startswith(inside)
    )
