"""Files that a process with a candidate can still read: libraries, its own folders and the candidate's.

A second Landlock ruleset beside the one against writing, since the folder of a candidate is not known yet when its
process is forked.  It applies to the calling thread and its children, cannot be undone, and also applies to root.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import UnsupportedError
from engine.sandbox import linux

# linux/landlock.h
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_READ, _REFER = _READ_FILE | _READ_FOLDER, 1 << 13

_SYSTEM_FOLDERS = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/sys", "/opt/cuda", "/opt/nvidia", "/opt/rocm",
    "/nix/store", "/gnu/store", "/run/opengl-driver",
)  # fmt: skip
_SETTINGS = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "passwd", "group", "nsswitch.conf",
    "locale.alias", "OpenCL", "vulkan",
)  # fmt: skip
_PROCESSES = (
    "self", "cpuinfo", "meminfo", "stat", "loadavg", "version", "filesystems", "devices", "modules", "uptime",
    "driver", "sys",
)  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom", "kfd", "dri", "nvidia-caps")
_VARIABLES_WITH_FOLDERS = ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME")
_OURS = ("kgtui", "problems", "sessions")
_EDITABLE_FINDER = "__editable__"


def limit_reading(readable: Iterable[str], *, listed: Iterable[str] = ()) -> None:
    """Limit reading to libraries and paths at or below `readable`; of `listed` only names can be listed.

    Raises:
        UnsupportedError: the kernel refuses.
    """
    opened: list[tuple[int, int]] = []
    try:
        # Without this right a ruleset forbids moving files between folders, which compilers do.
        moves = _REFER if linux.landlock_version() >= 2 else 0
        for place in dict.fromkeys((*_libraries(), *_system())):
            opened.extend(_rule(place, _READ))
        for place in map(Path, readable):
            opened.extend(_rule(place, _READ | moves))
        for place in map(Path, listed):
            opened.extend(_rule(place, _READ_FOLDER))
        linux.landlock_restrict(linux.LandlockRuleset(_READ | moves, 0, 0), size=8, rules=opened)
    except OSError as error:
        raise UnsupportedError(f"the files that the candidate can read could not be limited: {error}") from error
    finally:
        for handle, _ in opened:
            os.close(handle)
    # Without an open handle the kernel may drop the entry under memory pressure, and with it the permission.
    os.open("/proc/self", os.O_PATH)


def _rule(place: Path, access: int) -> Iterator[tuple[int, int]]:
    """An open handle of `place` with the rights to it; nothing if it does not exist."""
    try:
        handle = os.open(place, os.O_PATH)
    except OSError:
        return
    yield handle, access if place.is_dir() else access & _READ_FILE


def _libraries() -> Iterator[Path]:
    """The interpreter, everything that it can import without the candidate's folder, and the engine's own code."""
    yield from map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix))
    yield Path(sys.executable).resolve().parent
    yield from (Path(place) for place in sys.path if place)
    yield Path(__file__).parents[1]
    yield from _installed_editable()
    for variable in _VARIABLES_WITH_FOLDERS:
        yield from (Path(place) for place in os.environ.get(variable, "").split(os.pathsep) if place)


def _installed_editable() -> Iterator[Path]:
    """Packages that setuptools installed as links to their source trees, except ours."""
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None) if name.startswith(_EDITABLE_FINDER) else None
        if isinstance(mapping, dict):
            yield from (Path(place) for package, place in mapping.items() if package not in _OURS)


def _system() -> Iterator[Path]:
    yield from map(Path, _SYSTEM_FOLDERS)
    yield from (Path("/etc", name) for name in _SETTINGS)
    yield from (Path("/proc", name) for name in _PROCESSES)
    yield from (Path("/dev", name) for name in _DEVICES)
    yield from Path("/dev").glob("nvidia*")
    yield from Path("/opt").glob("rocm-*")
