"""Rooms of children: private, removed, and with an environment that holds nothing worth stealing."""

from __future__ import annotations

import getpass
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.model import Limits
from engine.processes.directories import (
    EngineDirectories,
    View,
    Workspace,
    _remove_stale,
    _shared_memory,
    base_environment,
)
from engine.sandbox.variables import MACHINE_VARIABLE


@pytest.fixture
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineDirectories]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    directories = EngineDirectories()
    yield directories
    directories.close()


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_base_folders_are_passable_but_not_listable(directories: EngineDirectories) -> None:
    assert [mode(folder) for folder in directories.folders] == [0o711, 0o711]


def test_child_directories_are_private_and_distinct(directories: EngineDirectories) -> None:
    first, second = directories.open_workspace(), directories.open_workspace()
    for workspace in (first, second):
        assert (mode(workspace.folder), mode(workspace.shared)) == (0o700, 0o700)
    assert len({first.folder, first.shared, second.folder, second.shared}) == 4


def test_child_directory_belongs_to_its_user(directories: EngineDirectories) -> None:
    first, second = directories.open_workspace(), directories.open_workspace()
    owner = os.getuid() if first.uid is None else first.uid
    assert (first.folder.stat().st_uid, first.shared.stat().st_uid) == (owner, owner)
    if first.uid is not None:
        assert len({0, os.getuid(), first.uid, second.uid}) == 3


def test_removing_child_directory_removes_both_folders(directories: EngineDirectories) -> None:
    workspace = directories.open_workspace()
    (workspace.folder / "deep").mkdir()
    (workspace.folder / "deep" / "link").symlink_to(directories.folder)
    (workspace.shared / "arena").write_bytes(b"x")
    workspace.remove()
    workspace.remove()
    assert not workspace.folder.exists()
    assert not workspace.shared.exists()
    assert directories.folder.is_dir()


def test_view_of_plain_folder_contains_all_files(directories: EngineDirectories, tmp_path: Path) -> None:
    workspace, kernels = directories.open_workspace(), tmp_path / "kernels"
    kernels.mkdir()
    assert workspace.view_of(None) == View(readable=(str(workspace.folder), str(workspace.shared)))
    assert workspace.view_of(kernels) == View(readable=(str(workspace.folder), str(workspace.shared), str(kernels)))


@pytest.mark.parametrize("candidate", [".", "home"])
def test_view_of_folder_with_private_parts_has_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, candidate: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    directories = EngineDirectories(private=(home,))
    folder = (tmp_path / candidate).resolve()
    (folder / "kernel.py").touch()
    (folder / ".netrc").touch()
    (folder / "link.py").symlink_to("/etc/shadow")
    workspace = directories.open_workspace()
    try:
        view = workspace.view_of(tmp_path / candidate)
    finally:
        directories.close()
    assert view == View(
        readable=(str(workspace.folder), str(workspace.shared), str(folder / "kernel.py")), listed=(str(folder),)
    )


def test_closing_twice_removes_all_folders(directories: EngineDirectories) -> None:
    directories.open_workspace()
    directories.close()
    directories.close()
    assert [folder.exists() for folder in directories.folders] == [False, False]


def test_every_cache_of_child_is_in_its_directory() -> None:
    workspace = Workspace(folder=Path("/workspaces/1"), shared=Path("/shared/1"), uid=None)
    environment = workspace.environment()
    assert {"HOME", "TMPDIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH"} <= set(environment)
    assert {value[:13] for name, value in environment.items() if name != "USER"} == {"/workspaces/1"}


def test_child_with_unnamed_user_id_gets_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])
    for name, value in (
        Workspace(folder=Path("/workspaces/1"), shared=Path("/shared/1"), uid=1 << 30).environment().items()
    ):
        monkeypatch.setenv(name, value)
    assert getpass.getuser() == "candidate"


def test_child_may_write_its_directory_within_limits() -> None:
    workspace = Workspace(folder=Path("/workspaces/1"), shared=Path("/shared/1"), uid=1234)
    limits = Limits(memory_bytes=5, processes=6, output_bytes=7)
    confinement = workspace.confinement(limits, address_space=True)
    assert confinement.writable == ("/workspaces/1", "/shared/1")
    assert (confinement.uid, confinement.memory_bytes, confinement.processes, confinement.file_bytes) == (1234, 5, 6, 7)
    assert confinement.address_space is True


SECRETS = {
    "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "HF_TOKEN": "k", "AWS_SECRET_ACCESS_KEY": "k", "GITHUB_TOKEN": "k",
    "SSH_AUTH_SOCK": "/s", "HTTPS_PROXY": "http://user:secret@proxy", "PYTHONPATH": "/mine", "LD_PRELOAD": "/x.so",
    "KGTUI_DATABASE": "/d", "USER": "me", "MAIL": "m",
}  # fmt: skip


def test_key_like_variable_never_reaches_a_child(tmp_path: Path) -> None:
    environment = base_environment({**SECRETS, "PATH": "/bin"}, interpreted=True, folder=tmp_path)
    assert set(environment) & set(SECRETS) == set()
    assert environment["PATH"] == "/bin"


def test_variables_for_programs_and_devices_are_kept(tmp_path: Path) -> None:
    kept = {
        "PATH": "/bin",
        "LD_LIBRARY_PATH": "/lib",
        "LANG": "C.UTF-8",
        "CUDA_VISIBLE_DEVICES": "3",
        "CUDA_HOME": "/c",
    }
    environment = base_environment(kept, interpreted=False, folder=tmp_path)
    assert {name: environment[name] for name in kept} == kept


def test_home_is_never_the_users(tmp_path: Path) -> None:
    environment = base_environment({"HOME": "/home/me"}, interpreted=False, folder=tmp_path)
    assert environment["HOME"] == str(tmp_path)


@pytest.mark.parametrize("interpreted", [True, False])
def test_threads_of_children_wait_without_spinning(tmp_path: Path, interpreted: bool) -> None:
    environment = base_environment({"OMP_WAIT_POLICY": "ACTIVE"}, interpreted=interpreted, folder=tmp_path)
    assert environment["OMP_WAIT_POLICY"] == "PASSIVE"


@pytest.mark.parametrize(
    ("interpreted", "value"),
    [(True, None), (False, "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432")],
)
def test_memory_comes_in_huge_pages_on_a_device(tmp_path: Path, interpreted: bool, value: str | None) -> None:
    environment = base_environment({"GLIBC_TUNABLES": "mine"}, interpreted=interpreted, folder=tmp_path)
    assert environment.get("GLIBC_TUNABLES") == value


@pytest.mark.parametrize(("interpreted", "value"), [(True, "1"), (False, None)])
def test_machine_is_chosen_only_when_device_is_cpu(tmp_path: Path, interpreted: bool, value: str | None) -> None:
    environment = base_environment({"TRITON_INTERPRET": "1"}, interpreted=interpreted, folder=tmp_path)
    assert environment.get(MACHINE_VARIABLE) == value
    assert "TRITON_INTERPRET" not in environment


def test_environment_source_stays_unchanged(tmp_path: Path) -> None:
    source = {"PATH": "/bin"}
    base_environment(source, interpreted=True, folder=tmp_path)
    assert source == {"PATH": "/bin"}


def test_only_dead_folders_of_our_own_are_swept(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    dead, living = tmp_path / "kgtui-999999999-a", tmp_path / f"kgtui-{os.getpid()}-b"
    dead.mkdir()
    living.mkdir()
    (tmp_path / "kgtui-999999999-c").symlink_to(victim)
    planted = tmp_path / "kgtui-999999999-d"
    planted.mkdir()
    (planted / ".lock").symlink_to(tmp_path / "made_through_a_link")
    _remove_stale((tmp_path,))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [living.name, "kgtui-999999999-c", planted.name, "victim"]
    )
    assert list(victim.iterdir()) == []  # nor was anything made in it to lock it


@pytest.mark.parametrize(
    ("shared_mib", "temporary_mib", "is_shared"),
    [(2048, 9000, True), (64, 9000, False), (64, 10, True)],
    ids=["enough", "small", "small and the disk is full"],
)
def test_small_shared_memory_is_the_last_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_mib: int, temporary_mib: int, is_shared: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.access", lambda *_: True)
    free = {Path("/dev/shm"): shared_mib << 20, tmp_path: temporary_mib << 20}
    monkeypatch.setattr("engine.processes.directories._free_bytes", lambda folder: free[folder])
    assert _shared_memory() == (Path("/dev/shm") if is_shared else tmp_path)
