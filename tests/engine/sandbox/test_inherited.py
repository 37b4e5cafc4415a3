"""A process mends what it inherited and leaves the rest."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from engine.sandbox.inherited import reset_inherited_state


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Whatever a test changes of this process is put back."""
    handler, mask = signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    signal.signal(signal.SIGCHLD, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.umask(umask)


def test_ignored_sigchld_is_reset_before_children_start() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    reset_inherited_state()
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_blocked_signals_are_delivered_again() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})
    reset_inherited_state()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


@pytest.mark.parametrize(("inherited", "then"), [(0o777, 0o077), (0o022, 0o022), (0o277, 0o077), (0o002, 0o002)])
def test_umask_keeps_the_rights_of_the_owner(inherited: int, then: int) -> None:
    os.umask(inherited)
    reset_inherited_state()
    assert os.umask(0o022) == then
