"""Stored files of a dataset: which are accepted, and how they are sent."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from engine.errors import EngineError
from problems.suites import blobs
from problems.suites.blobs import StoredFiles, fingerprint, parts_of, stored_name

pytest.importorskip("safetensors", reason="the extra 'suites' is not installed")

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"


def test_files_accepted_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MOST_BYTES", 5)
    for name in "abc":
        (tmp_path / name).write_bytes(b"123")
    stored = StoredFiles(tmp_path)

    assert [stored.refusal_of(paths) for paths in (["a"], ["./b"], ["a"])] == [
        "",
        "the stored inputs of the task have more than 5 bytes; earlier workloads are kept",
        "",
    ]
    assert stored.files == {stored_name("a"): tmp_path / "a"}


@pytest.mark.parametrize(("content", "parts"), [(b"12345", [b"12", b"34", b"5"]), (b"", [b""])])
def test_large_file_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, parts: list[bytes]
) -> None:
    monkeypatch.setattr(blobs, "PART_BYTES", 2)
    (tmp_path / "a").write_bytes(content)

    assert list(parts_of(tmp_path / "a")) == parts


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing", "missing cannot be read: No such file or directory"),
        ("../outside", "../outside is outside of the dataset"),
        ("pointer", "pointer is a Git LFS pointer; run `git lfs pull` in the checkout"),
        ("folder", "folder cannot be read: Is a directory"),
        ("\0", "\0 cannot be read: "),
    ],
)
def test_file_that_cannot_be_used_refused(tmp_path: Path, path: str, reason: str) -> None:
    home = tmp_path / "dataset"
    (home / "folder").mkdir(parents=True)
    (home / "pointer").write_text(POINTER)
    (tmp_path / "outside").write_text("")

    assert StoredFiles(home).refusal_of([path]).startswith(reason)


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    assert StoredFiles(tmp_path).refusal_of(["a"]) == "a is read with safetensors: pip install 'kgtui[suites]'"
    assert StoredFiles(tmp_path).refusal_of([]) == ""


def test_file_that_grew_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MOST_BYTES", 2)
    (tmp_path / "a").write_bytes(b"123")

    with pytest.raises(EngineError, match="has grown to more than 2 bytes"):
        list(parts_of(tmp_path / "a"))


def test_change_of_file_changes_its_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "a"
    before = fingerprint(file)
    file.write_bytes(b"1")

    assert (before, fingerprint(file)[0]) == ((0, 0), 1)
