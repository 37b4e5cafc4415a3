"""Settings that a process inherits from the one that started it, and that would break it.

A shell, a service manager or a scheduler may ignore SIGCHLD, block signals, or take the owner's rights away from new
files.  Only such states are changed: whatever else the caller chose stays.
"""

from __future__ import annotations

import os
import signal

_NOT_OF_THE_OWNER = 0o077


def reset_inherited_state() -> None:
    """Make ended children reported, signals delivered, and new files usable by their owner."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # otherwise waitpid would find no ended child
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(os.umask(_NOT_OF_THE_OWNER) & _NOT_OF_THE_OWNER)
