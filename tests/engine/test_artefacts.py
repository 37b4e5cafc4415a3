"""Artefacts are stored once each under the hash of their content."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.artefacts import ArtefactStore
from engine.model import Artefact

PTX = b".version 8.0\n"
DIGEST = hashlib.sha256(PTX).hexdigest()


def files_of(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_content_is_found_again_by_its_hash(tmp_path: Path) -> None:
    store = ArtefactStore(folder=tmp_path / "made" / "later")
    assert store.put("ptx", PTX) == Artefact(kind="ptx", digest=DIGEST, bytes=len(PTX))
    assert store.read(DIGEST) == PTX
    assert files_of(store.folder) == [Path(DIGEST[:2], DIGEST[2:])]


def test_same_content_is_one_file_for_all_kinds(tmp_path: Path) -> None:
    store = ArtefactStore(folder=tmp_path)
    first, second = store.put("ptx", PTX), store.put("sass", PTX)
    assert first.digest == second.digest
    assert second.kind == "sass"
    assert len(files_of(tmp_path)) == 1


def test_existing_file_is_not_written_again(tmp_path: Path) -> None:
    store = ArtefactStore(folder=tmp_path)
    store.put("ptx", PTX)
    path = tmp_path / DIGEST[:2] / DIGEST[2:]
    before = path.stat()
    store.put("ptx", PTX)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_empty_artefact_is_stored(tmp_path: Path) -> None:
    store = ArtefactStore(folder=tmp_path)
    assert store.read(store.put("ptx", b"").digest) == b""


def test_concurrent_writes_leave_one_whole_file(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096
    stores = [ArtefactStore(folder=tmp_path) for _ in range(16)]
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda store: store.put("cubin", content), stores))
    assert len(set(kept)) == 1
    assert len(files_of(tmp_path)) == 1
    assert stores[0].read(kept[0].digest) == content


def test_unwritable_place_is_os_error(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file stands here")
    with pytest.raises(OSError, match="folder"):
        ArtefactStore(folder=tmp_path / "folder").put("ptx", PTX)


def test_a_write_that_fails_leaves_nothing_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        ArtefactStore(folder=tmp_path).put("ptx", PTX)
    assert files_of(tmp_path) == []


def test_artefact_never_stored_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ArtefactStore(folder=tmp_path).read(DIGEST)


def test_artefact_may_be_removed_twice(tmp_path: Path) -> None:
    store = ArtefactStore(folder=tmp_path)
    kept, gone = store.put("ptx", PTX).digest, store.put("ptx", PTX + b"another").digest
    store.remove(gone)
    store.remove(gone)
    assert store.read(kept) == PTX
    with pytest.raises(FileNotFoundError):
        store.read(gone)
