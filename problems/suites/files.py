"""Reading the files of a suite: bounded, decoded, and never outside of its folder.

The content is untrusted: files may be huge, in another encoding, truncated, or links out of the folder. A file that
cannot be read raises SuiteFileError with a sentence, so that a reader can report it and continue.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from engine.errors import KgtuiError

MOST_SOURCE_BYTES = 4 << 20
MOST_ROW_BYTES = 32 << 20
MOST_ARRAY_BYTES = 256 << 20
_PEEKED_BYTES = 1 << 16

Row: TypeAlias = Mapping[str, Any]  # Any: JSON values of every shape

_MARKS = (
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
        raise SuiteFileError(f"{file}: cannot be read: {_reason(error)}; left out") from error
    return decoded(content, file)


def link_out(folder: Path, root: Path) -> SuiteFileError | None:
    """The complaint about a folder of the suite at `root` that is a broken link or links elsewhere; else None."""
    if not folder.is_symlink():
        return None
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return SuiteFileError(f"{folder}: a broken link: {_reason(error)}; left out")
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
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise SuiteFileError(f"{file}: neither UTF-8 nor UTF-16 (byte {error.start}); left out") from error


def rows_of(path: Path) -> Iterator[Row | SuiteFileError]:
    """The rows of a JSON array, JSONL or parquet file one by one; an exception in place of each invalid row."""
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
    elif _begins_with(path) == "[":
        yield from _array_rows(path)
    elif _peeked(path, len(codecs.BOM_UTF16_LE)) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        yield from _rows_in_utf_16(path)
    else:
        yield from _line_rows(path)


def first_row(path: Path) -> Row:
    """The first row of such a file, for recognising its format; empty if there is none. Reads no further rows."""
    if path.suffix != ".parquet" and _begins_with(path) == "[":
        return _first_of_array(path)
    found = next(rows_of(path), {})
    return {} if isinstance(found, SuiteFileError) else found


def _first_of_array(path: Path) -> Row:
    try:
        text = _beginning(_peeked(path, MOST_SOURCE_BYTES))
        found, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _line_rows(path: Path) -> Iterator[Row | SuiteFileError]:
    """One JSON object per line, any number of lines; a line beyond the size limit is skipped."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MOST_ROW_BYTES):
                number += 1
                where = f"{path}:{number}"
                if not line.endswith(b"\n") and len(line) == MOST_ROW_BYTES:
                    _skip_line(file)
                    yield SuiteFileError(f"{where}: a line of more than {MOST_ROW_BYTES:,} bytes; left out")
                elif line.strip():
                    yield _object(line, where)
    except OSError as error:
        yield SuiteFileError(f"{path}: cannot be read: {_reason(error)}")


def _rows_in_utf_16(path: Path) -> Iterator[Row | SuiteFileError]:
    """One JSON object per line in UTF-16, the encoding of some editors and shells."""
    try:
        lines = text_of(path, root=path, most_bytes=MOST_ARRAY_BYTES).split("\n")
    except SuiteFileError as error:
        yield error
        return
    yield from (_object(line.encode(), f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def _skip_line(file: Any) -> None:  # Any: a binary file
    while (rest := file.readline(MOST_ROW_BYTES)) and not rest.endswith(b"\n"):
        pass


def _object(line: bytes, where: str) -> Row | SuiteFileError:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return SuiteFileError(f"{where}: not valid JSON: {error}; left out")
    if not isinstance(found, dict):
        return SuiteFileError(f"{where}: expected an object, got {type(found).__name__}; left out")
    return found


def _array_rows(path: Path) -> Iterator[Row | SuiteFileError]:
    """The objects of one JSON array."""
    try:
        found = json.loads(text_of(path, root=path, most_bytes=MOST_ARRAY_BYTES))
    except SuiteFileError as error:
        yield error
        return
    except (ValueError, RecursionError) as error:
        yield SuiteFileError(f"{path}: not valid JSON: {error}")
        return
    for number, row in enumerate(found, 1):
        if isinstance(row, dict):
            yield row
        else:
            yield SuiteFileError(f"{path}, entry {number}: expected an object, got {type(row).__name__}; left out")


def _parquet_rows(path: Path) -> Iterator[Row | SuiteFileError]:
    """The rows of a parquet export; needs pyarrow."""
    try:
        import pyarrow.parquet
    except ImportError:
        yield SuiteFileError(f"{path}: reading parquet needs pyarrow; pip install 'kgtui[suites]'")
        return
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=64):
                yield from batch.to_pylist()
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        yield SuiteFileError(f"{path}: not a readable parquet file: {error}")


def _begins_with(path: Path) -> str:
    """The first character that is not whitespace; "" for an empty or unreadable file."""
    return _beginning(_peeked(path, _PEEKED_BYTES)).lstrip()[:1]


def _beginning(content: bytes) -> str:
    """The text of the first bytes of a file, by their byte order mark or as UTF-8, without bytes that do not decode."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    return content.decode(encoding, errors="ignore")


def _peeked(path: Path, count: int) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
