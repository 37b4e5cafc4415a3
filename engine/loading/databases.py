"""Paths of the SQLite databases that a candidate opens: sqlite3's own errors for a refused one name no path.

They only become words of a message; a candidate could report any path to the hook.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import deque
from pathlib import Path
from urllib.parse import unquote, urlsplit

REFUSALS = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
"""Beginnings of the names of sqlite3's errors for a database that may not be opened or written."""
_MOST_KEPT, _MOST_CHARACTERS = 8, 1000
_WRITABLE = ("HOME", "TMPDIR", "XDG_CACHE_HOME")
_REMEDY = "a kernel may write below HOME, TMPDIR and XDG_CACHE_HOME only; set its cache folder there"

_opened: deque[str] = deque(maxlen=_MOST_KEPT)
_writable: list[str] = []


def watch() -> None:
    """Remember the paths of the databases that this process opens from now on.  Safe to call twice."""
    if not _writable:
        folders = (os.environ.get(name) for name in _WRITABLE)
        _writable.extend(f"{Path(folder)}{os.sep}" for folder in (*folders, tempfile.gettempdir()) if folder)
        sys.addaudithook(_on_event)


def where_to_write(path: str) -> str:
    """The next step where this path is refused."""
    return f" ({path} is refused: {_REMEDY})"


def refusal() -> str:
    """The next step after an error of `REFUSALS`, with the path of the last database outside the writable folders."""
    outside = [path for path in _opened if not path.startswith(tuple(_writable))]
    if outside:
        return where_to_write(repr(outside[-1]))
    if not _opened:
        return f" (the path of the database is refused or does not exist: {_REMEDY})"
    path = _opened[-1]
    is_missing = not Path(path).parent.is_dir()
    return f" ({path!r}: its folder does not exist; create it first)" if is_missing else f" ({path!r})"


def _on_event(event: str, args: tuple[object, ...]) -> None:
    if event != "sqlite3.connect":
        return
    try:
        path = _path_of(args[0])
    except Exception:  # an exception here would stop the candidate's call; sqlite3 reports an impossible name itself
        return
    if path:
        _opened.append(path)


def _path_of(database: object) -> str:
    """The absolute path of this database; "" for one in memory or without a name."""
    if not isinstance(database, str | bytes | os.PathLike):
        return ""
    name = os.fsdecode(database)[:_MOST_CHARACTERS]
    if name.startswith("file:"):
        name = unquote(urlsplit(name).path)
    return "" if name in ("", ":memory:") else os.path.abspath(name)  # noqa: PTH100  # Path.resolve asks the file system
