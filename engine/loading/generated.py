"""Kernels whose file the candidate writes itself: the text of that file, and its import in another process.

Operator libraries write the source of some kernels to a cache folder and import it from there, often in the first call.
A process that only loads the candidate never creates such a kernel; it gets the text of the file instead.
"""

from __future__ import annotations

import linecache
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.loading import loader

CANDIDATE_FOLDER, MODULES_FOLDER = "candidate", "modules"
"""Folders in the home of a process that hold a candidate's file and its modules; the process cannot write to them."""

MOST_CHARACTERS = 1 << 16
_NAME = "generated"


def source_of(function: Callable[..., Any]) -> str:  # Any: kernels take everything
    """The text of the file that defines a kernel, if the candidate wrote it to the home folder; "" otherwise.

    Triton has read the file when the kernel was created, and the text is from then.  A text of more than
    `MOST_CHARACTERS` is "" too.
    """
    file, home = function.__code__.co_filename, os.environ.get("HOME")
    if not home or not Path(file).is_relative_to(home):
        return ""
    if Path(file).relative_to(home).parts[0] in (CANDIDATE_FOLDER, MODULES_FOLDER):
        return ""
    text = "".join(linecache.getlines(file))
    return text if len(text) <= MOST_CHARACTERS else ""


def import_text(text: str) -> None:
    """Import a file with this text, in the process's own temporary folder.

    Raises:
        BaseException: any exception of its top level.
    """
    folder = Path(tempfile.mkdtemp())
    path = folder / f"{_NAME}.py"
    path.write_text(text, encoding="utf-8")
    loader.import_file(path, None, name=f"{_NAME}_{folder.name}")
