"""Descriptions that are kept in a file agree with the files they are of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from problems import description_cache
from problems.folder import Folder
from problems.index import ProblemIndex
from tests.full_disks import full_disk
from tests.problems.test_folder import ROPE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "problems"
    made.mkdir()
    (made / "rope.py").write_text(ROPE)
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "made" / "descriptions.json"


def summaries(folder: Path, cache: Path) -> list[str]:
    described, broken = ProblemIndex((Folder(folder),), cache=cache).descriptions()
    assert broken == ()
    assert described == ProblemIndex((Folder(folder),)).descriptions()[0]
    return [one.summary for one in described]


def test_cached_description_is_used_without_reading_file(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert summaries(folder, cache) == ["x*sigmoid(x)"]
    kept = ProblemIndex((Folder(folder),), cache=cache)
    monkeypatch.setattr(Folder, "describe", lambda *_: pytest.fail("the file was read"))
    assert [one.summary for one in kept.descriptions()[0]] == ["x*sigmoid(x)"]


def test_changed_file_is_described_again(folder: Path, cache: Path) -> None:
    summaries(folder, cache)
    (folder / "rope.py").write_text(ROPE.replace("x*sigmoid(x)", "sigmoid(x)*x"))
    os.utime(folder / "rope.py", ns=(1, 1))
    assert summaries(folder, cache) == ["sigmoid(x)*x"]


def test_broken_file_is_not_kept(folder: Path, cache: Path) -> None:
    (folder / "rope.py").write_text("x = (")
    for _ in range(2):
        described, broken = ProblemIndex((Folder(folder),), cache=cache).descriptions()
        assert (described, len(broken)) == ((), 1)


@pytest.mark.parametrize("content", [b"", b"{}", b"not JSON", b'{"readers": "others", "entries": {}}'])
def test_unusable_cache_is_rebuilt(folder: Path, cache: Path, content: bytes) -> None:
    cache.parent.mkdir()
    cache.write_bytes(content)
    assert summaries(folder, cache) == ["x*sigmoid(x)"]
    assert cache.read_bytes() != content


def test_other_reader_version_ignores_the_cache(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summaries(folder, cache)
    before = cache.read_bytes()
    monkeypatch.setattr(description_cache, "_readers_hash", lambda: "another")
    assert summaries(folder, cache) == ["x*sigmoid(x)"]
    assert cache.read_bytes() != before


def test_unwritable_cache_is_ignored(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert summaries(folder, tmp_path / "file" / "descriptions.json") == ["x*sigmoid(x)"]


def test_full_disk_leaves_no_file_of_the_cache(folder: Path, cache: Path) -> None:
    cache.parent.mkdir()
    with full_disk():
        ProblemIndex((Folder(folder),), cache=cache).descriptions()
    assert list(cache.parent.iterdir()) == []
