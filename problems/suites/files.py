"""Reading the files of a suite: bounded, decoded, and never outside of its folder.

The content is untrusted: files may be huge, in another encoding, truncated, or links out of the folder. A file that
cannot be read raises SuiteFileError with a sentence, so that a reader can report it and continue.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from engine.errors import KgtuiError

MOST_SOURCE_BYTES = 4 << 20
MOST_ARRAY_BYTES = 256 << 20

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class SuiteFileError(KgtuiError):
    """A file of a suite cannot be read; the message has its name and the reason."""


def python_files(root: Path, pattern: str) -> Iterator[Path]:
    """The files below `root` that match the pattern, in natural order of their names; links are resolved later.

    Left out are `__init__.py`, `__main__.py` and hidden files.
    """
    found = (file for file in root.glob(pattern) if not file.name.startswith(("__", ".")))
    yield from sorted(found, key=lambda file: natural(file.relative_to(root).as_posix()))


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts 2_x before 10_x."""
    parts: list[tuple[bool, int, str]] = []
    for is_number, letters in _runs(name):
        parts.append((not is_number, int(letters) if is_number else 0, letters))
    return tuple(parts)


def _runs(name: str) -> Iterator[tuple[bool, str]]:
    """The name split between digits and other characters."""
    start = 0
    for place in range(1, len(name) + 1):
        if place == len(name) or _is_digit(name[place]) != _is_digit(name[start]):
            yield _is_digit(name[start]), name[start:place]
            start = place


def _is_digit(letter: str) -> bool:
    return letter.isascii() and letter.isdigit()


def text_of(file: Path, *, root: Path, most_bytes: int = MOST_SOURCE_BYTES) -> str:
    """The text of a file of the suite at `root`: UTF-8, or UTF-16 with a byte order mark.

    Raises:
        SuiteFileError: it is outside of the suite, too large, in another encoding, or cannot be read.
    """
    try:
        real = file.resolve(strict=True)
        if not is_within(real, root):
            raise SuiteFileError(f"{file}: a link to {real}, outside of the suite; left out")
        if not real.is_file():
            raise SuiteFileError(f"{file}: not a regular file; left out")
        size = real.stat().st_size
        if size > most_bytes:
            raise SuiteFileError(f"{file}: {size:,} bytes, and at most {most_bytes:,} are read; left out")
        content = real.read_bytes()
    except (OSError, RuntimeError) as error:
        raise SuiteFileError(f"{file}: cannot be read: {reason_of(error)}; left out") from error
    return decoded(content, file)


def link_out(folder: Path, root: Path) -> SuiteFileError | None:
    """The complaint about a folder of the suite at `root` that is a broken link or links elsewhere; else None."""
    if not folder.is_symlink():
        return None
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return SuiteFileError(f"{folder}: a broken link: {reason_of(error)}; left out")
    if not is_within(real, root):
        return SuiteFileError(f"{folder}: a link to {real}, outside of the suite; left out")
    return None


def is_within(real: Path, root: Path) -> bool:
    """Whether a resolved path is in the suite, or in the Hugging Face cache that contains the suite as a snapshot.

    In that cache each file of `<repository>/snapshots/<revision>` is a link to `<repository>/blobs/<hash>`.
    """
    home = root.resolve()
    home = home if home.is_dir() else home.parent
    if real.is_relative_to(home):
        return True
    snapshots = next((parent for parent in (home, *home.parents) if parent.parent.name == "snapshots"), None)
    return snapshots is not None and real.is_relative_to(snapshots.parent.parent / "blobs")


def decoded(content: bytes, file: Path) -> str:
    """The text of these bytes, by their byte order mark or as UTF-8, with line feeds as line ends.

    Raises:
        SuiteFileError: they are in another encoding.
    """
    encoding = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise SuiteFileError(f"{file}: neither UTF-8 nor UTF-16 (byte {error.start}); left out") from error


def reason_of(error: Exception) -> str:
    """The system's words for an error without the name of the file, else those of the exception."""
    return getattr(error, "strerror", None) or str(error)
