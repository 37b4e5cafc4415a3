"""Files that are not the author's, even in the author's folder: packages, Python's own, and ours.

A kernel file may be in a folder that contains an environment, an interpreter or a checkout of kgtui: a home folder, or
a project with `.venv` in it.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_FOLDERS = (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"], str(Path(__file__).parents[1]))
_PREFIXES = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)


def is_installed(file: str) -> bool:
    """Whether a file belongs to a package, to Python's standard library or to this engine."""
    return file.startswith(_PREFIXES) or any(part in file for part in _PACKAGES)
