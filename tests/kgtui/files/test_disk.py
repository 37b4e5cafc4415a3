"""Reading and replacing the user's file."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.static.source import MAX_SOURCE_BYTES
from kgtui.files import disk

SEPARATED = "contains a form feed or another rare line separator, which editing here would replace"
MIXED = "mixes several kinds of line ends, which editing here would unify"


def test_file_is_replaced_whole_keeping_permissions(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"old")
    path.chmod(0o640)
    disk.write(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["k.py"]


def test_new_file_gets_process_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        disk.write(tmp_path / "k.py", b"new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "k.py").stat().st_mode) == 0o640


def test_link_is_kept_and_target_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to(target)
    disk.write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_file_with_two_names_keeps_both(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"old")
    os.link(first, second)
    disk.write(first, b"new")
    assert second.read_bytes() == b"new"


def test_file_in_unwritable_folder_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"old")
    node = path.stat().st_ino

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    disk.write(path, b"new")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", node)


def test_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(UsageError, match=r"k\.py was not saved: it is read-only; run chmod u\+w on it"):
        disk.write(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_full_disk_changes_nothing_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"k\.py was not saved: No space left on device$"):
        disk.write(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("k.py", b"old")]


@pytest.mark.parametrize(("name", "words"), [("missing.py", "does not exist"), ("folder", "is a folder")])
def test_unreadable_file_is_reported_with_next_step(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=words):
        disk.read(tmp_path / name)


def test_only_utf8_text_can_be_edited() -> None:
    assert disk.editable_text("é".encode()) == "é"
    assert disk.editable_text(b"a\0b") is None
    assert disk.editable_text(b"\xff\xfe") is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ""),
        (b"a\nb\n", ""),
        (b"a\r\nb", ""),
        (b"a\rb\r", ""),
        (b"a\r\nb\n", MIXED),
        (b"a\rb\n", MIXED),
        (b"a\n\x0cb\n", SEPARATED),
        ("# a\u2028b\n".encode(), SEPARATED),
        (b"a\0b", "is a binary file; editing it here would damage it"),
        (b"\xff", "is not UTF-8 text; editing it here would damage it"),
    ],
)
def test_file_that_editing_would_alter_is_read_only(content: bytes, words: str) -> None:
    assert disk.why_not_editable(content) == words
    assert (disk.editable_text(content) is None) == bool(words)


def test_any_content_is_shown_in_pythons_lines() -> None:
    assert disk.shown_text(b"a\n\x0cb \xff\n").splitlines() == ["a", "\ufffdb \ufffd"]


def test_a_byte_order_mark_survives_an_edit() -> None:
    content = disk.BOM + b"x = 1\n"
    text = disk.editable_text(content)
    assert text == "x = 1\n"
    assert disk.encoded(text, like=content) == content


@pytest.mark.parametrize("endless", [False, True], ids=["a file", "a device"])
def test_oversized_source_is_refused_before_reading_all(tmp_path: Path, endless: bool) -> None:
    path = Path("/dev/zero") if endless else tmp_path / "k.py"
    if not endless:
        path.write_bytes(b"#" * (MAX_SOURCE_BYTES + 1))
    what = "is a device" if endless else "has more than 4,194,304 bytes"
    with pytest.raises(UsageError, match=f"{what}; a candidate is one Python file"):
        disk.read(path)


def test_pipe_is_not_read_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"k.py is a named pipe; a candidate is one Python file$"):
        disk.read(path)
    with pytest.raises(UsageError, match="was not saved: it is a named pipe"):
        disk.write(path, b"new")
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_loop_of_links_is_reported_when_saving(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.symlink_to(path)
    with pytest.raises(UsageError, match=r"was not saved: its symbolic links form a loop$"):
        disk.write(path, b"new")
