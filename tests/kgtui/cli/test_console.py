"""How wide the output is, and which signs it can carry."""

from __future__ import annotations

import dataclasses
import io

import pytest


@pytest.mark.parametrize(
    ("asked", "width"), [("120", 120), ("80", 80), ("7", 40), ("0", 80), ("wide", 80), ("-5", 80), ("", 80)]
)
def test_numeric_columns_variable_sets_width(console, asked, width):
    assert dataclasses.replace(console, environment={"COLUMNS": asked}).width == width


def test_output_without_terminal_is_80_columns(console, tmp_path):
    with (tmp_path / "out").open("w") as out:
        assert dataclasses.replace(console, out=out).width == 80


@pytest.mark.parametrize(("encoding", "can"), [("utf-8", True), ("ascii", False), ("cp437", False)])
def test_signs_that_the_encoding_lacks_cannot_be_written(console, encoding, can):
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert dataclasses.replace(console, out=out).can_write("±█…") == can


def test_a_document_is_utf_8_whatever_the_locale(console):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="backslashreplace")
    there = dataclasses.replace(console, out=out)
    there.say("é")
    there.write_document('{"name": "é"}')
    there.say("ü")
    assert raw.getvalue() == b'\\xe9\n{"name": "\xc3\xa9"}\n\\xfc\n'
