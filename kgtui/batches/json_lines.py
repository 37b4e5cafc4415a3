"""Candidates as rows of JSON lines; an invalid row is reported, and the others are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from engine.errors import UsageError
from engine.static.source import MAX_SOURCE_BYTES

_MOST_ROW_BYTES = 4 * MAX_SOURCE_BYTES
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_COMPLAINTS = 20


class _Fields(msgspec.Struct, frozen=True):
    """The fields of a row that are read; others are ignored."""

    op: str | None = None
    file: str | None = None
    task: str | None = None
    predict: str | None = None
    source: str | None = None
    code: str | None = None
    sample: int | None = None

    @property
    def operator(self) -> str:
        """Operator of the row; empty if it names none."""
        return self.op or self.task or self.file or ""

    @property
    def text(self) -> str | None:
        """The candidate: a source, or an answer with fenced code."""
        return next((text for text in (self.predict, self.source, self.code) if text is not None), None)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row with a candidate; `name` is file and line, and an answer may have text around its code."""

    name: str
    operator: str
    sample: int | None
    is_answer: bool
    read: Callable[[], bytes]


def rows_of(path: Path, shown: str, complaints: list[str]) -> Iterator[Row]:
    """The rows of a file, read one by one.

    Raises:
        UsageError: the file cannot be read, or is in UTF-16.
    """
    refused = 0
    try:
        with path.open("rb") as file:
            start = 0
            for number, line in enumerate(iter(partial(file.readline, _MOST_ROW_BYTES + 1), b""), start=1):
                if number == 1 and line.startswith(_UTF16):
                    raise UsageError(f"{shown} is in UTF-16; convert it: iconv -f utf-16 -t utf-8 FILE > NEW")
                if len(line) > _MOST_ROW_BYTES:
                    message = f"{shown}:{number}: longer than {_MOST_ROW_BYTES >> 20} MiB; the rest is not read"
                    complaints.append(message)
                    return
                row = _row(path, f"{shown}:{number}", line, start=start)
                start += len(line)
                if isinstance(row, Row):
                    yield row
                elif row:
                    refused += 1
                    if refused <= _MOST_COMPLAINTS:
                        complaints.append(row)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error
    if refused > _MOST_COMPLAINTS:
        complaints.append(f"{shown}: {refused - _MOST_COMPLAINTS} more rows are not candidates")


def _row(path: Path, name: str, line: bytes, *, start: int) -> Row | str:
    """The candidate of a line; a sentence if it has none, "" for an empty line."""
    if not line.strip():
        return ""
    try:
        fields = _fields(line)
    except msgspec.MsgspecError as error:
        return f"{name}: not a candidate: {error}"
    if fields.text is None:
        return f"{name}: not a candidate: expected a field predict, source or code"

    def read() -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(start)
                text = _fields(file.read(len(line))).text
        except (OSError, msgspec.MsgspecError) as error:
            raise UsageError(f"{name} can no longer be read: {error}") from error
        return (text or "").encode(errors="surrogatepass")

    is_answer = fields.predict is not None
    return Row(name=name, operator=fields.operator, sample=fields.sample, is_answer=is_answer, read=read)


def _fields(line: bytes) -> _Fields:
    return msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"), type=_Fields)
