# kgtui: op=aten::silu expect=timeout ids=C8
"""Ignores polite signals and spins in the entry; gives up by itself after ten minutes."""

import signal
import time


def silu(self):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    deadline_s = time.monotonic() + 600
    while time.monotonic() < deadline_s:
        pass
    return self
