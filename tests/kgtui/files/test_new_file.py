"""A file is made whole, or not at all."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from kgtui.files.new_file import create, create_numbered
from tests.full_disks import full_disk


def test_missing_parent_folders_are_created(tmp_path):
    create(tmp_path / "a" / "b.py", "größer\n", shown="a/b.py")
    assert (tmp_path / "a" / "b.py").read_text(encoding="utf-8") == "größer\n"


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    refusal = r"b.py was not written: File too large; free some space, then try again"
    with full_disk(), pytest.raises(UsageError, match=refusal):
        create(tmp_path / "b.py", "text", shown="b.py")
    assert list(tmp_path.iterdir()) == []


def test_refused_file_says_what_to_do_instead(tmp_path):
    with pytest.raises(UsageError) as refusal:
        create(tmp_path / ("b" * 300), "text", shown="b.py", otherwise="move away")
    assert str(refusal.value) == "b.py was not created: File name too long; move away"


def test_refused_folder_is_named(tmp_path):
    (tmp_path / "a").write_text("a file")
    with pytest.raises(UsageError) as refusal:
        create(tmp_path / "a" / "b" / "c.py", "text", shown="c.py")
    assert str(refusal.value) == f"c.py was not created: Not a directory ({tmp_path}/a/b); name another FILE"


def test_existing_file_is_unchanged(tmp_path):
    (tmp_path / "b.py").write_text("mine")
    with pytest.raises(UsageError, match=r"b.py exists and is not overwritten; name another FILE"):
        create(tmp_path / "b.py", "text", shown="b.py")
    assert (tmp_path / "b.py").read_text() == "mine"


def test_numbered_file_is_created_beside_existing_ones(tmp_path):
    made = [create_numbered(tmp_path / "k.py", content) for content in (b"1", b"2", b"3")]
    assert [(path.name, path.read_bytes()) for path in made] == [("k.py", b"1"), ("k_2.py", b"2"), ("k_3.py", b"3")]
