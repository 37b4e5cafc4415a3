"""Resets settings that a process inherits from its parent and that would break it.

A shell, a service manager or a scheduler may ignore SIGCHLD, block signals, or remove the owner's rights from new
files.  Only such states are changed: all other settings of the caller are kept.
"""

from __future__ import annotations

import os
import signal

_NOT_OF_THE_OWNER = 0o077


def reset_inherited_state() -> None:
    """Have exited children reported, signals delivered, and new files usable by their owner."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # otherwise waitpid would find no ended child
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(os.umask(_NOT_OF_THE_OWNER) & _NOT_OF_THE_OWNER)
