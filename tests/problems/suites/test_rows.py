"""Rows of exports whose lines or values are larger than they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from problems.suites import rows
from problems.suites.files import SuiteFileError


def words(path: Path) -> list[object]:
    return [str(row) if isinstance(row, SuiteFileError) else row for row in rows.rows_of(path)]


@pytest.mark.parametrize("length", [60, 4000])
def test_line_beyond_the_limit_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(rows, "MOST_ROW_BYTES", 50)
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a": 1}}\n{{"b": "{"x" * length}"}}\n{{"c": 3}}\n')
    assert words(path) == [{"a": 1}, f"{path}:2: a line of more than 50 bytes; left out", {"c": 3}]


def test_last_line_of_exactly_the_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n')
    monkeypatch.setattr(rows, "MOST_ROW_BYTES", len('{"a": 1}\n'))
    assert words(path) == [{"a": 1}]
