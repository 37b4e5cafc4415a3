"""The seccomp filter of a confined child: which system calls it may not make, and with which arguments.

The filter is a classic BPF program over `struct seccomp_data` (linux/seccomp.h).  It gets registers, never the memory
of a pointer; so a call whose dangerous arguments are in memory is refused as a whole.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.sandbox import linux


@dataclass(frozen=True, kw_only=True)
class _Numbers:
    """System call numbers of one architecture: asm/unistd_64.h and asm-generic/unistd.h."""

    audit_architecture: int
    forbidden: tuple[int, ...]
    socket: int
    socketpair: int
    connect: int
    clone: int


_NUMBERS: Mapping[str, _Numbers] = MappingProxyType(
    {
        "x86_64": _Numbers(
            audit_architecture=0xC000003E,
            forbidden=(
                101, 310, 311, 312, 438,  # ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd
                165, 166, 155, 272, 308,  # mount, umount2, pivot_root, unshare, setns
                248, 249, 250, 321, 323, 425,  # add_key, request_key, keyctl, bpf, userfaultfd, io_uring_setup
                169, 175, 176, 246, 313,  # reboot, init_module, delete_module, kexec_load, finit_module
            ),
            socket=41, socketpair=53, connect=42, clone=56,
        ),
        "aarch64": _Numbers(
            audit_architecture=0xC00000B7,
            forbidden=(
                117, 270, 271, 272, 438, 40, 39, 41, 97, 268, 217, 218, 219, 280, 282, 425, 142, 105, 106, 104, 273,
            ),
            socket=198, socketpair=199, connect=203, clone=220,
        ),
    }
)  # fmt: skip
_CLONE3 = 435  # the same on every architecture
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET of linux/sched.h
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 1, 5, 0xF

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # BPF_LD|W|ABS, BPF_ALU|AND|K, BPF_RET|K
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_JMP|JSET|K
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets: the number, the architecture, low halves of arguments
_ALLOWED = 0x7FFF0000  # SECCOMP_RET_ALLOW
_X32 = 0x40000000  # the x32 interface of x86-64 numbers from here

Instruction = tuple[int, int, int, int]


def filter_system_calls(*, all_threads: bool = False) -> None:
    """Install the filter for this thread, or for `all_threads` of this process, and for all that they start.

    Raises:
        OSError: the kernel has no seccomp.
        KeyError: the numbers of this architecture are not known.
    """
    linux.install_seccomp(program_for(platform.machine()), all_threads=all_threads)


def program_for(machine: str) -> list[Instruction]:
    """The filter as instructions (code, jump if true, jump if false, constant) for `x86_64` or `aarch64`."""
    numbers = _NUMBERS[machine]
    refused = _refused(errno.EPERM)
    program = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, numbers.audit_architecture), refused]
    program += [(_LOAD, 0, 0, _NUMBER)]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32), refused]
    for number in numbers.forbidden:
        program += [(_EQUAL, 0, 1, number), refused]
    # The flags of clone3 are in memory. A C library that finds no clone3 uses clone, with flags in a register.
    program += [(_EQUAL, 0, 1, _CLONE3), _refused(errno.ENOSYS)]
    # A socket's path or abstract name is in memory too. Socket pairs need no connect.
    program += [(_EQUAL, 0, 1, numbers.connect), _refused(errno.EACCES)]
    program += [(_EQUAL, 0, 4, numbers.clone), (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refused]
    program += [(_RETURN, 0, 0, _ALLOWED)]
    program += [(_EQUAL, 2, 0, numbers.socket), (_EQUAL, 1, 0, numbers.socketpair), (_RETURN, 0, 0, _ALLOWED)]
    program += [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, _AF_UNIX), refused]
    # No datagram sockets: each datagram can be sent to any path without a connection.
    program += [(_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _SOCK_TYPE_MASK)]
    program += [(_EQUAL, 1, 0, _SOCK_STREAM), (_EQUAL, 0, 1, _SOCK_SEQPACKET), (_RETURN, 0, 0, _ALLOWED), refused]
    return program


def _refused(number: int) -> Instruction:
    """Return this errno to the caller: SECCOMP_RET_ERRNO."""
    return (_RETURN, 0, 0, 0x00050000 | number)
