"""All processes of a user are killed, by the helper or without it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engine.processes.user_killer import UserKiller

_UID = 61_973

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


def process_of(uid: int) -> int:
    """A process of this user that waits for good; its id, once it is that user."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setresuid(uid, uid, uid)
        os.write(writing, b".")
        while True:
            signal.pause()
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)
    return pid


@pytest.mark.parametrize("has_died", [False, True], ids=["helper", "helper has died"])
def test_all_processes_of_user_are_killed(has_died: bool) -> None:
    killer = UserKiller()
    pids = [process_of(_UID) for _ in range(3)]
    if has_died:
        os.kill(killer.pid, signal.SIGKILL)
        os.waitpid(killer.pid, 0)
    killer.kill_all_of(_UID)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [-signal.SIGKILL] * 3
    killer.end()
    assert not Path(f"/proc/{killer.pid}").exists()
