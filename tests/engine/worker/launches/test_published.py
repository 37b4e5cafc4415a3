"""Triton's cache, with folders of others that are looked into first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from triton import knobs
from triton.runtime.cache import CacheManager, get_cache_manager

from engine.worker.launches import published

DIGEST = "ab" * 32  # Triton's own digest of what is compiled; the folder's name is made of it


class CacheFolders:
    """A process's own cache and two folders of others, with the cache entry of one kernel in hand."""

    def __init__(self, folder: Path) -> None:
        self.own, self.first, self.second = (folder / name for name in ("own", "first", "second"))
        published.read_from(self.first, self.second)
        self.cache: CacheManager = get_cache_manager(DIGEST)

    def put(self, cache_folder: Path, name: str, content: str) -> Path:
        """A file of this kernel on a kernel cache."""
        place = cache_folder / self.cache.key / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        return place


@pytest.fixture
def cache_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CacheFolders:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(knobs.cache, "manager_class", knobs.cache.manager_class)  # put back afterwards
    return CacheFolders(tmp_path)


def test_missing_file_is_not_found(cache_folders: CacheFolders) -> None:
    assert (cache_folders.cache.has_file("k.cubin"), cache_folders.cache.get_file("k.cubin")) == (False, None)
    assert cache_folders.cache.get_group("k.json") is None


@pytest.mark.parametrize("cache_folder", ["first", "second"])
def test_a_published_file_is_found(cache_folders: CacheFolders, cache_folder: str) -> None:
    place = cache_folders.put(getattr(cache_folders, cache_folder), "k.cubin", "published")
    assert (cache_folders.cache.has_file("k.cubin"), cache_folders.cache.get_file("k.cubin")) == (True, str(place))


def test_file_published_later_is_found(cache_folders: CacheFolders) -> None:
    assert cache_folders.cache.get_file("k.cubin") is None
    place = cache_folders.put(cache_folders.first, "k.cubin", "published")
    assert cache_folders.cache.get_file("k.cubin") == str(place)


def test_first_folder_is_searched_first_own_cache_last(cache_folders: CacheFolders) -> None:
    own = cache_folders.cache.put("own", "k.cubin", binary=False)
    assert cache_folders.cache.get_file("k.cubin") == own
    second = cache_folders.put(cache_folders.second, "k.cubin", "second")
    assert cache_folders.cache.get_file("k.cubin") == str(second)
    first = cache_folders.put(cache_folders.first, "k.cubin", "first")
    assert cache_folders.cache.get_file("k.cubin") == str(first)


def test_locally_compiled_file_stays_in_own_cache(cache_folders: CacheFolders) -> None:
    cache_folders.cache.put("own", "k.cubin", binary=False)
    assert [path.exists() for path in (cache_folders.own, cache_folders.first, cache_folders.second)] == [
        True,
        False,
        False,
    ]


def test_cached_file_of_other_kernel_is_not_found(cache_folders: CacheFolders) -> None:
    cache_folders.put(cache_folders.first, "k.cubin", "published")
    assert get_cache_manager("cd" * 32).get_file("k.cubin") is None


def test_published_group_is_found_wherever_compiled(
    cache_folders: CacheFolders,
) -> None:
    listed = {"child_paths": {"k.ptx": "/elsewhere/k.ptx", "k.json": "/elsewhere/k.json"}}
    cache_folders.put(cache_folders.first, "__grp__k.json", json.dumps(listed))
    ptx = cache_folders.put(cache_folders.first, "k.ptx", "ptx")
    meta = cache_folders.put(cache_folders.second, "k.json", "{}")
    assert cache_folders.cache.get_group("k.json") == {"k.ptx": str(ptx), "k.json": str(meta)}


def test_group_with_unpublished_file_is_not_found(cache_folders: CacheFolders) -> None:
    listed = {"child_paths": {"k.ptx": "/elsewhere/k.ptx", "k.gone": "/etc/passwd"}}
    cache_folders.put(cache_folders.first, "__grp__k.json", json.dumps(listed))
    cache_folders.put(cache_folders.first, "k.ptx", "ptx")
    assert cache_folders.cache.get_group("k.json") is None


def test_partly_published_group_is_taken_from_own_cache(cache_folders: CacheFolders) -> None:
    cache_folders.put(
        cache_folders.first, "__grp__k.json", json.dumps({"child_paths": {"k.gone": "/elsewhere/k.gone"}})
    )
    own = cache_folders.cache.put("ptx", "k.ptx", binary=False)
    Path(own).with_name("__grp__k.json").write_text(json.dumps({"child_paths": {"k.ptx": own}}))
    assert cache_folders.cache.get_group("k.json") == {"k.ptx": own}


@pytest.mark.parametrize("listed", ["", "not json", "[]", "{}", '{"child_paths": 3}', '{"child_paths": {}}', "\ud800"])
def test_invalid_list_is_not_a_group(cache_folders: CacheFolders, listed: str) -> None:
    place = cache_folders.put(cache_folders.first, "__grp__k.json", "")
    place.write_bytes(listed.encode("utf-8", "surrogatepass"))
    assert cache_folders.cache.get_group("k.json") is None


def test_locally_made_group_is_found(cache_folders: CacheFolders) -> None:
    own = cache_folders.cache.put("ptx", "k.ptx", binary=False)
    cache_folders.cache.put_group("k.json", {"k.ptx": own})
    assert cache_folders.cache.get_group("k.json") == {"k.ptx": own}
