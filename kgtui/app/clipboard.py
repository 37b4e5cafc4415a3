"""Places for a copied text besides the terminal's own clipboard, which never confirms a copy.

tmux accepts clipboard sequences of a program only if configured, but passes on what its own command loads.  screen and
the Linux console have no clipboard: there the text goes to a file.
"""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FILE = "copied.txt"


class CopyMethod(enum.Enum):
    """Method of copying a text to the clipboard."""

    TERMINAL = enum.auto()
    """By the escape sequence OSC 52, which Textual writes."""
    TMUX = enum.auto()
    FILE = enum.auto()


def method_of(environment: Mapping[str, str]) -> CopyMethod:
    """The method that works in this terminal."""
    if environment.get("TMUX"):
        return CopyMethod.TMUX
    has_none = environment.get("STY") or environment.get("TERM") == "linux"
    has_none = has_none or environment.get("TERM_PROGRAM") == "Apple_Terminal"
    return CopyMethod.FILE if has_none else CopyMethod.TERMINAL


async def put_on_clipboard(text: str, *, environment: Mapping[str, str], folder: Path) -> str:
    """Copy the text to tmux or to a file, where the terminal needs that; a sentence with the place."""
    trouble = ""
    if method_of(environment) is CopyMethod.TMUX:
        trouble = await _load_buffer(text)
        if not trouble:
            return "also in tmux's buffer: its prefix, then ] pastes it"
    path = folder / _FILE
    try:
        await asyncio.to_thread(_write, path, text)
    except OSError as error:
        return f"it may not be on the clipboard, and {path} cannot be written: {error.strerror}"
    return f"{trouble or 'programs cannot write to the clipboard of this terminal'}; the text is in {path}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def _load_buffer(text: str) -> str:
    """Load the text into tmux, which passes it to the clipboard of its terminal; returns the error, or ""."""
    command, pipe = ("tmux", "load-buffer", "-w", "-"), asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
        _, said = await process.communicate(text.encode())
    except OSError as error:
        return f"tmux did not start: {error.strerror}"
    return f"tmux rejected it: {said.decode(errors='replace').strip()}" if process.returncode else ""
