"""On which file systems the kernel sees every change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgtui.files.watching.file_systems import is_local


def mounts(folder: Path, *types: str, of: Path) -> Path:
    """A table in which the device of `of` is mounted with these types, beside a network folder."""
    device = of.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    lines = ["36 25 0:999 / /net rw,noatime shared:1 - nfs4 server:/home rw"]
    lines += [f"37 25 {number} / /here rw shared:2 master:1 - {kind} /dev/sda1 rw" for kind in types]
    table = folder / "mountinfo"
    table.write_text("\n".join(lines))
    return table


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("ext4",), True),
        (("overlay", "tmpfs"), True),
        (("nfs4",), False),
        (("fuse.sshfs",), False),
        (("9p",), False),
        (("ext4", "nfs4"), False),
        ((), False),
    ],
)
def test_the_type_of_the_mount_decides(tmp_path: Path, types: tuple[str, ...], expected: bool) -> None:
    assert is_local(str(tmp_path), mounts=mounts(tmp_path, *types, of=tmp_path)) is expected


def test_deleted_folder_is_not_local(tmp_path: Path) -> None:
    assert not is_local(str(tmp_path / "gone"))


def test_a_system_without_the_table_is_not_local(tmp_path: Path) -> None:
    assert not is_local(str(tmp_path), mounts=tmp_path / "none")
