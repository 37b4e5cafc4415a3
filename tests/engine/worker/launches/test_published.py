"""Triton's cache, with folders of others that are looked into first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from triton import knobs
from triton.runtime.cache import CacheManager, get_cache_manager

from engine.worker.launches import published

DIGEST = "ab" * 32  # Triton's own digest of what is compiled; the folder's name is made of it


class Shelves:
    """A process's own cache and two folders of others, with the cache entry of one kernel in hand."""

    def __init__(self, folder: Path) -> None:
        self.own, self.first, self.second = (folder / name for name in ("own", "first", "second"))
        published.read_from(self.first, self.second)
        self.cache: CacheManager = get_cache_manager(DIGEST)

    def put(self, shelf: Path, name: str, content: str) -> Path:
        """A file of this kernel on a kernel cache."""
        place = shelf / self.cache.key / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        return place


@pytest.fixture
def shelves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelves:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(knobs.cache, "manager_class", knobs.cache.manager_class)  # put back afterwards
    return Shelves(tmp_path)


def test_what_is_nowhere_is_not_there(shelves: Shelves) -> None:
    assert (shelves.cache.has_file("k.cubin"), shelves.cache.get_file("k.cubin")) == (False, None)
    assert shelves.cache.get_group("k.json") is None


@pytest.mark.parametrize("shelf", ["first", "second"])
def test_a_published_file_is_found(shelves: Shelves, shelf: str) -> None:
    place = shelves.put(getattr(shelves, shelf), "k.cubin", "published")
    assert (shelves.cache.has_file("k.cubin"), shelves.cache.get_file("k.cubin")) == (True, str(place))


def test_a_file_that_comes_later_is_found_too(shelves: Shelves) -> None:
    assert shelves.cache.get_file("k.cubin") is None
    place = shelves.put(shelves.first, "k.cubin", "published")
    assert shelves.cache.get_file("k.cubin") == str(place)


def test_the_first_folder_is_looked_into_first_and_the_own_cache_last(shelves: Shelves) -> None:
    own = shelves.cache.put("own", "k.cubin", binary=False)
    assert shelves.cache.get_file("k.cubin") == own
    second = shelves.put(shelves.second, "k.cubin", "second")
    assert shelves.cache.get_file("k.cubin") == str(second)
    first = shelves.put(shelves.first, "k.cubin", "first")
    assert shelves.cache.get_file("k.cubin") == str(first)


def test_what_is_compiled_here_stays_in_the_own_cache(shelves: Shelves) -> None:
    shelves.cache.put("own", "k.cubin", binary=False)
    assert [path.exists() for path in (shelves.own, shelves.first, shelves.second)] == [True, False, False]


def test_another_kernel_is_not_mistaken_for_this_one(shelves: Shelves) -> None:
    shelves.put(shelves.first, "k.cubin", "published")
    assert get_cache_manager("cd" * 32).get_file("k.cubin") is None


def test_the_files_of_a_group_are_those_that_were_published_wherever_their_compiler_wrote_them(
    shelves: Shelves,
) -> None:
    listed = {"child_paths": {"k.ptx": "/elsewhere/k.ptx", "k.json": "/elsewhere/k.json"}}
    shelves.put(shelves.first, "__grp__k.json", json.dumps(listed))
    ptx = shelves.put(shelves.first, "k.ptx", "ptx")
    meta = shelves.put(shelves.second, "k.json", "{}")
    assert shelves.cache.get_group("k.json") == {"k.ptx": str(ptx), "k.json": str(meta)}


def test_a_group_with_a_file_that_was_not_published_is_not_there(shelves: Shelves) -> None:
    listed = {"child_paths": {"k.ptx": "/elsewhere/k.ptx", "k.gone": "/etc/passwd"}}
    shelves.put(shelves.first, "__grp__k.json", json.dumps(listed))
    shelves.put(shelves.first, "k.ptx", "ptx")
    assert shelves.cache.get_group("k.json") is None


def test_a_group_that_was_published_in_part_and_made_here_is_the_one_from_here(shelves: Shelves) -> None:
    shelves.put(shelves.first, "__grp__k.json", json.dumps({"child_paths": {"k.gone": "/elsewhere/k.gone"}}))
    own = shelves.cache.put("ptx", "k.ptx", binary=False)
    Path(own).with_name("__grp__k.json").write_text(json.dumps({"child_paths": {"k.ptx": own}}))
    assert shelves.cache.get_group("k.json") == {"k.ptx": own}


@pytest.mark.parametrize("listed", ["", "not json", "[]", "{}", '{"child_paths": 3}', '{"child_paths": {}}', "\ud800"])
def test_a_list_that_is_none_is_no_group(shelves: Shelves, listed: str) -> None:
    place = shelves.put(shelves.first, "__grp__k.json", "")
    place.write_bytes(listed.encode("utf-8", "surrogatepass"))
    assert shelves.cache.get_group("k.json") is None


def test_a_group_that_was_made_here_is_found_here(shelves: Shelves) -> None:
    own = shelves.cache.put("ptx", "k.ptx", binary=False)
    shelves.cache.put_group("k.json", {"k.ptx": own})
    assert shelves.cache.get_group("k.json") == {"k.ptx": own}
