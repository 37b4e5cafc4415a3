"""Restricts a process to writing to some folders and the harmless devices; network and reading are unrestricted.

For programs of the user's choice that need the network, such as a coding agent.  Must run before such a program is
executed; it cannot be undone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from engine.sandbox import linux

# linux/landlock.h
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0x1FF0, 1 << 13, 1 << 14
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def limit_writing(writable: Iterable[Path]) -> None:
    """Restrict this process and its children to writing below these folders.

    Raises:
        OSError: this kernel has no Landlock, so nothing is restricted.
    """
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    version = linux.landlock_version()
    handled = _WRITE_FILE | _REMOVE_AND_MAKE
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    ruleset = linux.LandlockRuleset(handled, 0, 0)
    size = ctypes.sizeof(ruleset) if version >= 6 else 16 if version >= 4 else 8
    devices = [path for name in _DEVICES if (path := Path("/dev", name)).exists()]
    opened: list[tuple[int, int]] = []
    try:
        opened.extend((os.open(folder, os.O_PATH), handled) for folder in writable)
        opened.extend((os.open(device, os.O_PATH), _WRITE_FILE) for device in devices)
        linux.landlock_restrict(ruleset, size=size, rules=opened)
    finally:
        for handle, _ in opened:
            os.close(handle)
