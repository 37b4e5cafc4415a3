"""Reads the user's file, and replaces it atomically; `kgtui.files.new_file` creates one."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from engine.errors import UsageError
from engine.sandbox.user_files import (
    MissingFileError,
    NoFileError,
    TooLargeError,
    UserFileError,
    read_user_file,
    reason_of,
    require_regular,
)
from engine.static.source import MAX_SOURCE_BYTES
from kgtui.highlighting.cleaning import VISIBLE

BOM = b"\xef\xbb\xbf"
# Line ends for a text widget that are not line ends for Python.
_RARE_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def read(path: Path) -> bytes:
    """The content of the kernel file.

    Raises:
        UsageError: it is missing, a folder, unreadable or too large; the message says what to do.
    """
    try:
        return read_user_file(path, max_bytes=MAX_SOURCE_BYTES)
    except MissingFileError as error:
        raise UsageError(f"{path} does not exist; create it with `kgtui new`, or name another file") from error
    except NoFileError as error:
        raise UsageError(f"{path} {str(error).removeprefix('it ')}; a candidate is one Python file") from error
    except TooLargeError as error:
        words = f"{path} has more than {MAX_SOURCE_BYTES:,} bytes; a candidate is one Python file"
        raise UsageError(words) from error
    except UserFileError as error:
        raise UsageError(f"{path} cannot be read: {error}; check its permissions") from error


def editable_text(content: bytes) -> str | None:
    """The text of a file that can be edited and written back without loss; None for any other content."""
    return None if why_not_editable(content) else content.decode("utf-8-sig")


def why_not_editable(content: bytes) -> str:
    """Reason why an editor with one kind of line end would damage this content; "" if it would not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "is not UTF-8 text; editing it here would damage it"
    if "\0" in text:
        return "is a binary file; editing it here would damage it"
    if any(map(text.__contains__, _RARE_SEPARATORS)):
        return "contains a form feed or another rare line separator, which editing here would replace"
    both = text.count("\r\n")
    kinds = [kind for kind in (both, text.count("\n") - both, text.count("\r") - both) if kind]
    return "mixes several kinds of line ends, which editing here would unify" if len(kinds) > 1 else ""


def shown_text(content: bytes) -> str:
    """Printable text of any content, in lines as Python counts them."""
    return content.decode("utf-8", errors="replace").translate(dict.fromkeys(map(ord, _RARE_SEPARATORS), VISIBLE))


def encoded(text: str, *, like: bytes) -> bytes:
    """The text as bytes, with the byte order mark that the file had."""
    return (BOM if like.startswith(BOM) else b"") + text.encode()


def write(path: Path, content: bytes) -> None:
    """Replace the content of `path` in one step and keep its permissions.

    Written in place if a rename would change the owner or break hard links, or if the folder is not writable.

    Raises:
        UsageError: the disk is full, or the file is not writable; the caller still has the text.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = _mode(target)
    except NoFileError as error:
        words = f"{path} was not saved: {error}; save under another name or remove it"
        raise UsageError(words) from error
    except OSError as error:
        raise UsageError(f"{path} was not saved: {reason_of(error)}") from error
    if not mode & 0o222:
        # Checked here, since a rename only needs permissions of the folder.
        raise UsageError(f"{path} was not saved: it is read-only; run chmod u+w on it")
    try:
        if _keeps_identity(target) and _replace(target, content):
            return
        with target.open("wb") as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{path} was not saved: {error.strerror}") from error


def require_writable(path: Path) -> None:
    """Reject a file that `write` could not write, before the work for its content is done; nothing is written.

    Raises:
        UsageError: its folder does not exist or is not writable, or it is no file, or is read-only.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: the folder {path.parent} does not exist; create it")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: permission denied; name another file")


def _keeps_identity(target: Path) -> bool:
    try:
        known = target.stat()
    except FileNotFoundError:
        return True
    return known.st_uid == os.geteuid() and known.st_nlink == 1


def _replace(target: Path, content: bytes) -> bool:
    """Write a temporary file and rename it; False if the folder does not allow it.

    Raises:
        OSError: the disk is full; the file is unchanged.
    """
    try:
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.tmp.")
    except PermissionError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).chmod(_mode(target))
        Path(aside).replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise
    return True


def _mode(target: Path) -> int:
    """The permissions of the file, or those of a new one by the umask.

    Raises:
        NoFileError: the path is something other than a file.
    """
    try:
        status = target.stat()
        require_regular(status)
        return stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
