"""TTIR that processes with the same candidate share: a marker replaces the folder that each of them has.

Locations name the candidate's file, which is in another folder in each process.
"""

from __future__ import annotations

import re
from pathlib import Path

_MARKER = '"@workspace/'
_PLAIN = re.compile(r"[\w./+@,=-]+", re.ASCII)
"""Folders whose name is the same text in a path and in TTIR, which escapes other characters."""


def mark_folder(ttir: str, workspace: Path) -> str:
    """The text with a marker in place of this folder; "" where TTIR does not have the folder's name as it is."""
    return ttir.replace(f'"{workspace}/', _MARKER) if is_plain(workspace) else ""


def restore_folder(text: str, workspace: Path) -> str:
    """The text of `mark_folder` with this folder in place of the marker."""
    return text.replace(_MARKER, f'"{workspace}/')


def is_plain(workspace: Path) -> bool:
    """Whether TTIR has the name of this folder as it is."""
    return _PLAIN.fullmatch(str(workspace)) is not None
