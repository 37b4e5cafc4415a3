"""A text that processes share has no folder of one of them, and names the files of the one that reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.loading.frontend.shared_text import is_plain, mark_folder, restore_folder

TEXT = 'loc("/tmp/maker/candidate/k.py":3:1) loc("/usr/lib/triton/core.py":1:1)'


def test_folder_of_the_reader_replaces_that_of_the_maker() -> None:
    marked = mark_folder(TEXT, Path("/tmp/maker"))
    assert "/tmp/maker" not in marked
    assert restore_folder(marked, Path("/tmp/reader")) == TEXT.replace("/tmp/maker", "/tmp/reader")


@pytest.mark.parametrize("workspace", ['/tmp/a"b', "/tmp/ä", "/tmp/a\\b", "/tmp/a b"])
def test_folder_that_ttir_escapes_is_not_marked(workspace: str) -> None:
    assert (is_plain(Path(workspace)), mark_folder(TEXT, Path(workspace))) == (False, "")
