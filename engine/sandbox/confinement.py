"""The rights that a child process drops before untrusted code runs in it.

Each measure is tried separately: a machine that lacks one still gets the others, and the measures in force are
reported, never assumed.  Must run in a freshly forked, single-threaded process; none of it can be undone.
"""

from __future__ import annotations

import ctypes
import enum
import fcntl
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.sandbox import linux
from engine.sandbox.system_calls import filter_system_calls

_STATUS_OF_SPACE, _STATUS_OF_DATA = "VmSize", "VmData"


class Measure(enum.StrEnum):
    """Confinement measures of a child, in the order in which they are applied; and limits set by its parent.

    The last two of a child come last because a change of user clears both.
    """

    NO_NEW_PRIVILEGES = "no new privileges"
    RESOURCES = "resource limits"
    NETWORK = "no network (namespace)"
    FILES = "read-only files (Landlock)"
    READING = "reads only libraries and its own folder (Landlock)"
    USER = "a separate user (needs root)"
    SYSTEM_CALLS = "no foreign memory, connections, namespaces or mounts (seccomp)"
    MEMORY = "memory unreadable to others"
    PARENT = "dies with its parent"
    RUN = "limits of a run enforced by the kernel (cgroup v2)"


_LEFT = (Measure.FILES, Measure.SYSTEM_CALLS)


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """How one child is confined.

    `writable` are the only folders that it may write, `uid` an unprivileged user id of its own (only root can assign
    one), `address_space` whether memory is limited by address space (a GPU driver reserves far more than it uses, so
    there the data segment is limited instead).  A child that `starts_tool` runs a foreign program that runs one of
    ours, which applies the rest before it loads a candidate: files and system calls are unrestricted until then, and
    its own network namespace, which has no route out, has a loopback.
    """

    writable: tuple[str, ...]
    uid: int | None
    memory_bytes: int
    processes: int
    file_bytes: int
    address_space: bool
    starts_tool: bool = False


def confine(confinement: Confinement) -> tuple[str, ...]:
    """Apply every measure that is available here; returns the names of the measures now in force."""
    carry_out: dict[Measure, Callable[[], object]] = {
        Measure.NO_NEW_PRIVILEGES: lambda: linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1),
        Measure.RESOURCES: lambda: _limit_resources(confinement),
        Measure.NETWORK: lambda: _leave_network(loopback=confinement.starts_tool),
        Measure.FILES: lambda: restrict_files(confinement.writable, address_space=confinement.address_space),
        Measure.READING: linux.landlock_version,
        Measure.USER: lambda: _become(confinement.uid),
        Measure.SYSTEM_CALLS: filter_system_calls,
        Measure.MEMORY: lambda: linux.prctl(linux.PR_SET_DUMPABLE, 0),
        Measure.PARENT: lambda: linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL),
    }
    left = _LEFT if confinement.starts_tool else ()
    return tuple(measure for measure, action in carry_out.items() if measure not in left and _holds(action))


def limit_memory(memory_bytes: int) -> None:
    """Limit this process, and its children, to this many bytes of data more than it has, if that is less."""
    limit_bytes = _kib(_STATUS_OF_DATA) * 1024 + memory_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit_bytes < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))


class _NotHereError(OSError):
    """The measure does not apply to this process."""


def _holds(measure: Callable[[], object]) -> bool:
    try:
        measure()
    except (OSError, KeyError, ValueError):
        return False
    return True


def _limit_resources(confinement: Confinement) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (confinement.file_bytes, confinement.file_bytes))
    kind, field = (
        (resource.RLIMIT_AS, _STATUS_OF_SPACE) if confinement.address_space else (resource.RLIMIT_DATA, _STATUS_OF_DATA)
    )
    memory_bytes = _kib(field) * 1024 + confinement.memory_bytes
    resource.setrlimit(kind, (memory_bytes, memory_bytes))
    # The kernel counts the processes of a user; with its own user id only those of this child.
    others = 0 if confinement.uid is not None else _processes_of(os.getuid())
    resource.setrlimit(resource.RLIMIT_NPROC, (others + confinement.processes,) * 2)


def _kib(field: str) -> int:
    """A size of this process in KiB, as counted by the kernel now."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0])


def _processes_of(uid: int) -> int:
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += sum(1 for _ in (entry / "task").iterdir())
            except OSError:
                continue  # it ended in the meantime
    return count


def _leave_network(*, loopback: bool) -> None:
    try:
        linux.unshare(linux.CLONE_NEWNET | linux.CLONE_NEWIPC)
    except PermissionError:
        uid, gid = os.getuid(), os.getgid()
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # until the id maps are written: otherwise these files belong to root
        linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNET | linux.CLONE_NEWIPC)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    if loopback:
        _raise_loopback()


def _raise_loopback() -> None:
    """Bring up the interface "lo" of this network namespace, which is down in a new one: netdevice(7)."""
    request = struct.pack("16sh14x", b"lo", _IFF_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1  # linux/sockios.h, linux/if.h

# linux/landlock.h
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0x1FF0, 1 << 13, 1 << 14
_NO_TCP, _SCOPE_SOCKETS_AND_SIGNALS = 3, 3
_DEVICES = ("null", "zero", "full", "random", "urandom", "kfd", "dri", "nvidia-uvm", "nvidia-uvm-tools", "nvidiactl")


def restrict_files(writable: tuple[str, ...], *, address_space: bool, connects: bool = False) -> None:
    """Restrict this thread and its children to writing these folders and devices, and TCP to `connects`.

    Raises:
        OSError: this kernel has no Landlock.
    """
    version = linux.landlock_version()
    handled = _WRITE_FILE | _REMOVE_AND_MAKE
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    ruleset = linux.LandlockRuleset(
        handled,
        _NO_TCP if version >= 4 and not connects else 0,
        _SCOPE_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = ctypes.sizeof(ruleset) if version >= 6 else 16 if version >= 4 else 8
    devices = [Path("/dev", name) for name in _DEVICES] + list(Path("/dev").glob("nvidia[0-9]*"))
    opened: list[tuple[int, int]] = []
    try:
        opened.extend((os.open(folder, os.O_PATH), handled) for folder in writable)
        opened.extend((os.open(device, os.O_PATH), _WRITE_FILE) for device in devices if device.exists())
        if not address_space:
            # A CUDA driver names its threads in this folder, and fails to start without it.
            opened.append((os.open("/proc/self/task", os.O_PATH), handled & (_WRITE_FILE | _TRUNCATE)))
        linux.landlock_restrict(ruleset, size=size, rules=opened)
    finally:
        for handle, _ in opened:
            os.close(handle)


def _become(uid: int | None) -> None:
    if uid is None:
        raise _NotHereError("not root: the user is not changed")
    # The interpreter may be in a folder that only root may enter (a home directory): read permission is kept.
    linux.prctl(linux.PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    linux.keep_only_capabilities(linux.CAP_DAC_READ_SEARCH)
