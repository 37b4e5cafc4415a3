"""Files reported by an untrusted compiler are copied whole, under their own names, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.processes.builds.kernel_cache import publish

KEY = "A5QJZ3Y_-"[:-1]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The cache folder of a compiler, with one kernel in it."""
    folder = tmp_path / "source"
    (folder / KEY).mkdir(parents=True)
    (folder / KEY / "k.cubin").write_bytes(b"binary")
    return folder


@pytest.fixture
def cache_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    folder.mkdir()
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Every file below, by its name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_a_file_is_copied_under_its_own_name(source: Path, cache_folder: Path) -> None:
    publish((f"{KEY}/k.cubin",), source, cache_folder)
    assert files(cache_folder) == {f"{KEY}/k.cubin": b"binary"}


@pytest.mark.parametrize("name", ["__grp__k.json", "k.ttir", "cuda_utils.cpython-311-x86_64-linux-gnu.so", "k@1.json"])
def test_every_name_that_triton_gives_is_copied(source: Path, cache_folder: Path, name: str) -> None:
    (source / KEY / name).write_bytes(b"x")
    publish((f"{KEY}/{name}",), source, cache_folder)
    assert files(cache_folder) == {f"{KEY}/{name}": b"x"}


@pytest.mark.parametrize(
    "name",
    [
        "../x", "..", ".", "", "/", "/etc/passwd", "/etc", "a/b/c", "../../etc/passwd", "a/..", "../a", "a/../../x",
        "alone", ".hidden/x", "a/.hidden", "a b/x", "a/x y", "a/x\n", "a/x\0y", "a/" + "x" * 252, "a\\b", "~/x",
        "-rf/x", "$HOME/x",
    ],
)  # fmt: skip
def test_file_name_unknown_to_triton_is_skipped(source: Path, cache_folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "x").write_bytes(b"outside")
    before = files(tmp_path)
    publish((name, f"{KEY}/k.cubin"), source, cache_folder)
    assert files(tmp_path) == {**before, f"kernels/{KEY}/k.cubin": b"binary"}


def test_file_at_wrong_depth_is_skipped(source: Path, cache_folder: Path) -> None:
    (source / "alone").write_bytes(b"x")
    (source / KEY / "deep").mkdir()
    (source / KEY / "deep" / "x").write_bytes(b"x")
    (cache_folder / KEY / "deep").mkdir(parents=True)
    publish(("alone", f"{KEY}/deep/x", f"{KEY}/k.cubin"), source, cache_folder)
    assert files(cache_folder) == {f"{KEY}/k.cubin": b"binary"}


def test_existing_file_is_not_overwritten(source: Path, cache_folder: Path) -> None:
    publish((f"{KEY}/k.cubin",), source, cache_folder)
    there = (cache_folder / KEY / "k.cubin").stat()
    (source / KEY / "k.cubin").write_bytes(b"another")
    publish((f"{KEY}/k.cubin",), source, cache_folder)
    assert files(cache_folder) == {f"{KEY}/k.cubin": b"binary"}
    assert (cache_folder / KEY / "k.cubin").stat().st_ino == there.st_ino


def test_missing_file_link_or_pipe_is_skipped(source: Path, cache_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (source / KEY / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(source / KEY / "pipe")
    (source / KEY / "folder").mkdir()
    publish(tuple(f"{KEY}/{name}" for name in ("missing", "link", "pipe", "folder", "k.cubin")), source, cache_folder)
    assert files(cache_folder) == {f"{KEY}/k.cubin": b"binary"}


def test_files_copied_per_compile_are_limited(source: Path, cache_folder: Path) -> None:
    names = [f"{KEY}/k{number}" for number in range(80)]
    for name in names:
        (source / name).write_bytes(b"x")
    assert publish(tuple(names), source, cache_folder) == 64
    assert sorted(files(cache_folder)) == sorted(names[:64])


def test_file_beyond_remaining_bytes_is_skipped(source: Path, cache_folder: Path) -> None:
    (source / KEY / "large").write_bytes(b"0123456789")
    (source / KEY / "small").write_bytes(b"01")
    assert publish((f"{KEY}/k.cubin", f"{KEY}/large", f"{KEY}/small"), source, cache_folder, most_bytes=9) == 8
    assert sorted(files(cache_folder)) == [f"{KEY}/k.cubin", f"{KEY}/small"]


def test_files_of_one_compile_share_a_limit(source: Path, cache_folder: Path) -> None:
    for name in ("one", "two"):
        with (source / KEY / name).open("wb") as file:
            file.truncate(33 << 20)
    publish((f"{KEY}/one", f"{KEY}/two", f"{KEY}/k.cubin"), source, cache_folder)
    assert sorted(files(cache_folder)) == [f"{KEY}/k.cubin", f"{KEY}/one"]


def test_autotuner_choice_is_not_copied(source: Path, cache_folder: Path) -> None:
    (source / KEY / "k.autotune.json").write_bytes(b"{}")
    assert publish((f"{KEY}/k.autotune.json",), source, cache_folder) == 0
    assert files(cache_folder) == {}


def test_failed_write_leaves_no_partial_file(source: Path, cache_folder: Path) -> None:
    (cache_folder / KEY).write_bytes(b"a file stands where the folder should be")
    (source / "B").mkdir()
    (source / "B" / "k.cubin").write_bytes(b"other")
    publish((f"{KEY}/k.cubin", "B/k.cubin"), source, cache_folder)
    assert files(cache_folder) == {KEY: b"a file stands where the folder should be", "B/k.cubin": b"other"}


def test_reader_never_sees_partial_file(source: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its name the file appears whole: what is being written lies beside it, under another."""
    seen: list[dict[str, bytes]] = []
    rename = Path.rename

    def look(path: Path, target: Path) -> Path:
        seen.append(files(cache_folder))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", look)
    publish((f"{KEY}/k.cubin",), source, cache_folder)
    assert seen == [{f"{KEY}/k.cubin.unfinished": b"binary"}]
    assert files(cache_folder) == {f"{KEY}/k.cubin": b"binary"}


def test_published_file_is_readable_but_not_writable(source: Path, cache_folder: Path) -> None:
    publish((f"{KEY}/k.cubin",), source, cache_folder)
    assert (cache_folder / KEY).stat().st_mode & 0o777 == 0o755 & ~_umask()
    assert (cache_folder / KEY / "k.cubin").stat().st_mode & 0o022 == 0


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
