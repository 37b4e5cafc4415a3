"""Signals that end a command: handled in the event loop, so that running work ends properly."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNAL_BASE = 128
"""A command ended by a signal exits with this plus the signal number."""


def handle_signals(stop: Callable[[int], None]) -> None:
    """Call `stop` with the number of each signal that arrives in this event loop."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
