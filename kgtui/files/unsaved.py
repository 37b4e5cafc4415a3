"""Unsaved text of the editor, kept on disk while it is typed, so that a kill loses little of it.

One note per file and process, in the user's data folder.  A note of an ended process is offered when its file is opened
again; the kernel file itself is never changed here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from engine.processes.liveness import is_alive, process_stamp

_NEWEST_FIRST = True


@dataclass(frozen=True, kw_only=True)
class RecoverableText:
    """Unsaved text of an ended process, and its note."""

    text: str
    note: Path


class UnsavedTexts:
    """The notes of one process in `folder`, which is created with the first of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = f"{os.getpid()}-{secrets.token_hex(4)}"  # a later process may have the same number

    def keep(self, path: Path, text: str) -> None:
        """Note the text of this file.

        Raises:
            OSError: the note cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        pid = os.getpid()
        content = {"path": os.fsdecode(path), "pid": pid, "stamp": process_stamp(pid), "text": text}
        note = self._own_note(path)
        aside = note.with_suffix(".new")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file)  # in ASCII: a lone surrogate is escaped
        aside.replace(note)

    def forget(self, path: Path) -> None:
        """Remove the note: the text of this file is saved or discarded."""
        with contextlib.suppress(OSError):
            self._own_note(path).unlink()

    def recoverable(self, path: Path) -> RecoverableText | None:
        """The newest unsaved text of this file from an ended process; None if there is none."""
        with contextlib.suppress(OSError):
            notes = [(note.stat().st_mtime_ns, note) for note in self._folder.glob(f"{_name_of(path)}.*.json")]
            for _, note in sorted(notes, reverse=_NEWEST_FIRST):
                if (text := _recoverable_text(note)) is not None:
                    return RecoverableText(text=text, note=note)
        return None

    @staticmethod
    def discard(recoverable: RecoverableText) -> None:
        """Delete its note."""
        with contextlib.suppress(OSError):
            recoverable.note.unlink()

    def _own_note(self, path: Path) -> Path:
        return self._folder / f"{_name_of(path)}.{self._own}.json"


def _name_of(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]


def _recoverable_text(note: Path) -> str | None:
    """Text of the note; None for one that is damaged, or whose process is still running."""
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
        pid, stamp, text = content["pid"], content["stamp"], content["text"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_well_formed = isinstance(pid, int) and isinstance(text, str) and isinstance(stamp, str | None)
    return text if is_well_formed and not is_alive(pid, stamp) else None
