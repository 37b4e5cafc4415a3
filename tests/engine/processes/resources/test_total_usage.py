"""Usage of a tree of processes, from a made-up /proc."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.processes.resources.total_usage import Usage, usage_below

MIB = 1 << 20


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Root 1 with 10 MiB; below it worker 2 with a child 3, and judge 4 with a child 5."""
    for pid, children, anonymous, shared, swapped in (
        (1, "2 4", 10, 0, 0),
        (2, "3", 40, 5, 1),
        (3, "", 12, 0, 0),
        (4, "5", 500, 0, 0),
        (5, "", 500, 0, 0),
    ):
        thread = tmp_path / "proc" / str(pid) / "task" / str(pid)
        thread.mkdir(parents=True)
        (thread / "children").write_text(children)
        kib = [f"{name}:\t{size << 10} kB" for name, size in (("RssAnon", anonymous), ("RssShmem", shared))]
        (thread.parents[1] / "status").write_text("\n".join(["Name:\tx", *kib, f"VmSwap:\t{swapped << 10} kB"]))
    return tmp_path / "proc"


def test_usage_counts_memory_that_processes_added(proc: Path) -> None:
    usage = usage_below([1], trusted=(4,), proc=proc)
    assert usage == Usage(memory_bytes=(40 + 1 - 10 + 5 + 12 - 10) * MIB, processes=2, disk_bytes=0)


def test_usage_of_processes_that_ended_is_zero(proc: Path) -> None:
    assert usage_below([99], proc=proc) == Usage(memory_bytes=0, processes=0, disk_bytes=0)


def test_zombie_without_memory_counts_as_process(proc: Path) -> None:
    (proc / "3" / "status").write_text("Name:\tx\nState:\tZ (zombie)")
    assert usage_below([2], proc=proc).processes == 1


def test_usage_of_folders_adds_up_blocks(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/one", "a/b/two"):
        (tmp_path / name).write_bytes(b"x" * 8192)
    blocks = sum((tmp_path / name).lstat().st_blocks for name in ("a/one", "a/b/two"))
    assert usage_below([], folders=[tmp_path / "a", tmp_path / "gone"]).disk_bytes == blocks * 512
