"""The few Linux system calls that Python does not offer, by ctypes.

Thin: every function is one system call, raises OSError with the kernel's errno, and decides nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from ctypes import c_int, c_long, c_uint32, c_uint64

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
CAP_DAC_READ_SEARCH = 2

_libc = ctypes.CDLL(None, use_errno=True)
_AMBIENT_RAISE = 2
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}


def prctl(option: int, argument: int = 0, detail: int = 0) -> None:
    """prctl(2) with one or two arguments."""
    _check(_libc.prctl(c_int(option), c_long(argument), c_long(detail), c_long(0), c_long(0)))


def set_process_name(name: str) -> None:
    """Set the name of this process in process lists; the kernel keeps 15 bytes."""
    _check(_libc.prctl(c_int(PR_SET_NAME), ctypes.c_char_p(name.encode()), c_long(0), c_long(0), c_long(0)))


def unshare(flags: int) -> None:
    """unshare(2)."""
    _check(_libc.unshare(c_int(flags)))


def syscall(number: int, *arguments: object) -> int:
    """syscall(2) with arguments that ctypes supports; returns its result."""
    return _check(_libc.syscall(c_long(number), *arguments))


def keep_only_capabilities(*capabilities: int) -> None:
    """capset(2) and ambient capabilities: exactly these, for this process and for the programs that it starts."""
    mask = sum(1 << capability for capability in capabilities)
    header = (c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    low, high = mask & 0xFFFFFFFF, mask >> 32
    sets = (c_uint32 * 6)(low, low, low, high, high, high)
    syscall(_SYS_CAPSET[platform.machine()], header, sets)
    for capability in capabilities:
        prctl(PR_CAP_AMBIENT, _AMBIENT_RAISE, capability)


class SeccompFilter(ctypes.Structure):
    """struct sock_filter of linux/filter.h: one instruction of a classic BPF program."""

    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", c_uint32))


class _SeccompProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(SeccompFilter)))


def install_seccomp(instructions: list[tuple[int, int, int, int]], *, all_threads: bool = False) -> None:
    """Filter the system calls of this thread and of all that it will ever start; needs no-new-privileges.

    With `all_threads` those of every thread of this process are filtered, or none.
    """
    array = (SeccompFilter * len(instructions))(*(SeccompFilter(*line) for line in instructions))
    program = _SeccompProgram(len(instructions), array)
    if all_threads:
        _install_for_all_threads(program)
        return
    mode_filter = 2
    _check(_libc.prctl(c_int(PR_SET_SECCOMP), c_long(mode_filter), ctypes.byref(program), c_long(0), c_long(0)))


def _install_for_all_threads(program: _SeccompProgram) -> None:
    set_mode_filter, all_threads = 1, 1  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC
    if thread := syscall(
        _SECCOMP[platform.machine()], c_long(set_mode_filter), c_long(all_threads), ctypes.byref(program)
    ):
        raise OSError(errno.EACCES, f"thread {thread} of this process has another filter")


class LandlockRuleset(ctypes.Structure):
    """struct landlock_ruleset_attr of linux/landlock.h."""

    _fields_ = (("handled_access_fs", c_uint64), ("handled_access_net", c_uint64), ("scoped", c_uint64))


class LandlockPath(ctypes.Structure):
    """struct landlock_path_beneath_attr of linux/landlock.h."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", c_uint64), ("parent_fd", ctypes.c_int32))


_SECCOMP = {"x86_64": 317, "aarch64": 277}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446


def landlock_version() -> int:
    """The version of the kernel's Landlock interface; raises OSError if there is none."""
    return syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), c_uint32(1))


def landlock_restrict(ruleset: LandlockRuleset, *, size: int, rules: list[tuple[int, int]]) -> None:
    """Restrict this thread to `rules`, pairs of an open folder and the accesses allowed beneath it."""
    handle = syscall(_LANDLOCK_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), c_uint32(0))
    try:
        for folder, access in rules:
            rule = LandlockPath(access, folder)
            syscall(_LANDLOCK_ADD, c_int(handle), c_int(1), ctypes.byref(rule), c_uint32(0))
        syscall(_LANDLOCK_RESTRICT, c_int(handle), c_uint32(0))
    finally:
        os.close(handle)


def _check(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
