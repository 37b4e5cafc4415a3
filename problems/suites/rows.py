"""Rows of a suite's export: a JSON array, JSON lines or parquet, one row at a time.

The content is untrusted; an invalid row is yielded as an exception, so that a reader can report it and continue.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from problems.suites.files import MARKS, MOST_ARRAY_BYTES, MOST_SOURCE_BYTES, SuiteFileError, reason_of, text_of

MOST_ROW_BYTES = 32 << 20
_PEEKED_BYTES = 1 << 16

Row: TypeAlias = Mapping[str, Any]  # Any: JSON values of every shape


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
        yield SuiteFileError(f"{path}: cannot be read: {reason_of(error)}")


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
    encoding = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    return content.decode(encoding, errors="ignore")


def _peeked(path: Path, count: int) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""
