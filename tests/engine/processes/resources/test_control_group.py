"""Control groups of runs, made in a folder that looks like a mounted hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.processes.resources.control_group import ControlGroup, open_group

FILES = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.procs", "memory.events")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """This process's entry: the group /user/shell of a hierarchy below `tmp_path`."""
    shell = tmp_path / "mount" / "user" / "shell"
    shell.mkdir(parents=True)
    (shell / "cgroup.procs").touch()
    entry = tmp_path / "cgroup"
    entry.write_text("4:memory:/elsewhere\n0::/user/shell\n")
    return entry


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new group gets its files, and one that is removed loses them, as the kernel does it."""
    make, remove = Path.mkdir, Path.rmdir

    def mkdir(folder: Path) -> None:
        make(folder)
        for name in FILES:
            (folder / name).touch()

    def rmdir(folder: Path) -> None:
        for file in folder.iterdir():
            file.unlink()
        remove(folder)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)


def test_group_is_made_beside_own_with_limits(own: Path, kernel: None) -> None:
    group = open_group(memory_bytes=4096, threads=8, mount=own.parent / "mount", own=own)
    assert group is not None
    (folder,) = (own.parent / "mount" / "user").glob("kgtui-*")
    assert {name: (folder / name).read_text() for name in FILES[:4]} == {
        "memory.max": "4096",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "8",
    }
    assert group.add(77)
    assert (folder / "cgroup.procs").read_text() == "77"


def test_abandoned_group_is_removed_and_used_kept(own: Path, kernel: None) -> None:
    parent = own.parent / "mount" / "user"
    left = parent / "kgtui-left-behind"
    left.mkdir()
    first, second = (open_group(memory_bytes=4096, threads=8, mount=own.parent / "mount", own=own) for _ in range(2))
    assert first is not None and second is not None
    assert (left.exists(), len(list(parent.glob("kgtui-*")))) == (False, 2)
    first.close()
    second.close()
    assert list(parent.glob("kgtui-*")) == []


def test_group_without_controllers_is_removed_again(own: Path) -> None:
    assert open_group(memory_bytes=4096, threads=8, mount=own.parent / "mount", own=own) is None
    assert list((own.parent / "mount" / "user").glob("kgtui-*")) == []


@pytest.mark.parametrize("entry", ["0::/\n", "4:memory:/elsewhere\n", "0::/not/mounted\n"])
def test_hidden_parent_group_gives_no_group(own: Path, entry: str) -> None:
    own.write_text(entry)
    assert open_group(memory_bytes=4096, threads=8, mount=own.parent / "mount", own=own) is None


@pytest.mark.parametrize(
    ("events", "ran_out"), [("low 0\noom 1\noom_kill 2\n", True), ("oom 0\noom_kill 0\n", False), ("", False)]
)
def test_group_reports_kills_for_memory(tmp_path: Path, events: str, ran_out: bool) -> None:
    (tmp_path / "memory.events").write_text(events)
    assert ControlGroup(tmp_path).ran_out_of_memory is ran_out


def test_removed_group_accepts_no_process(tmp_path: Path) -> None:
    group = ControlGroup(tmp_path / "gone")
    assert not group.add(77)
    group.close()
    assert not group.ran_out_of_memory
