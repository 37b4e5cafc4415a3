"""Kills all processes of a user id, by a small helper process.

kill(-1) signals every process of a user in one call, so that none escapes by forking; but the caller must be that user.
So a fork changes its user and calls it.  The helper is forked before the libraries are imported, because forking the
fork server afterwards takes milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct

from engine.sandbox import linux

_UID = struct.Struct("=I")
_DONE = b"."


class UserKiller:
    """The helper; created while the process is small, ends with it."""

    def __init__(self) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self._socket.close()
            _serve(other)
        other.close()

    def kill_all_of(self, uid: int) -> None:
        """Kill every process of this user; forks this process if the helper has exited."""
        try:
            self._socket.send(_UID.pack(uid))
            is_done = self._socket.recv(len(_DONE)) == _DONE
        except OSError:
            is_done = False
        if not is_done:
            _kill_all_of(uid)

    def forget(self) -> None:
        """Drop the helper, which belongs to the process that this one was forked from."""
        self._socket.close()

    def end(self) -> None:
        """End the helper and wait until it has exited."""
        self._socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _serve(asked: socket.socket) -> None:
    try:
        handle = asked.fileno()
        os.closerange(0, handle)
        os.closerange(handle + 1, os.sysconf("SC_OPEN_MAX"))
        linux.set_process_name("kgtui-killer")
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while message := asked.recv(_UID.size):
            _kill_all_of(*_UID.unpack(message))
            asked.send(_DONE)
    finally:
        os._exit(0)


def _kill_all_of(uid: int) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
