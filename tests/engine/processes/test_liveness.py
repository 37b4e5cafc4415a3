"""Telling a process from another one that was given its number."""

from __future__ import annotations

import os
import subprocess

from engine.processes.liveness import is_alive, process_stamp


def test_own_process_is_alive_under_its_stamp_only():
    stamp = process_stamp(os.getpid())
    assert stamp is not None
    assert is_alive(os.getpid(), stamp)
    assert not is_alive(os.getpid(), f"{stamp}0")


def test_two_reads_agree():
    assert process_stamp(os.getpid()) == process_stamp(os.getpid())


def test_process_without_start_time_is_not_alive():
    assert not is_alive(os.getpid(), None)


def test_unreaped_dead_process_is_dead():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    stamp = process_stamp(child.pid)
    assert is_alive(child.pid, stamp)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(child.pid, stamp)
    child.wait()
    assert not is_alive(child.pid, stamp)
