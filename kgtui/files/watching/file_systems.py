"""Whether the kernel reports every change of a folder: False for a file system that another machine may write to.

Reads only the mount table.
"""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
# Local file systems. Other types may be network or FUSE file systems, whose files change without an event here.
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs", "tmpfs", "overlay"})
_DEVICE_FIELD = 2


def is_local(directory: str, *, mounts: Path = MOUNTS) -> bool:
    """Whether only this machine's kernel changes files there; False if unknown."""
    try:
        device = Path(directory).stat().st_dev
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    types = {_type_of(line) for line in lines if line.split()[_DEVICE_FIELD] == number}
    return bool(types) and types <= _LOCAL


def _type_of(mount: str) -> str:
    """The file system type of a mount line: the field after the hyphen, as the number of fields before it varies."""
    return mount.partition(" - ")[2].split()[0]
