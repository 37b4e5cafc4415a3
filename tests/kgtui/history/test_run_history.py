"""Opening the store for the screen."""

from __future__ import annotations

import subprocess
import sys

OPENED = """
import asyncio, sys
from kgtui.history.run_history import RunHistory

class Opened:
    def listen(self, notice):
        pass

def opener():
    seen.append("sessions" in sys.modules)
    return Opened()

seen = ["sessions" in sys.modules]
asyncio.run(RunHistory(opener, on_trouble=print, notice=None).open())
print(seen)
"""


def test_store_package_is_imported_before_its_thread_starts() -> None:
    """Two threads that import the package and a part of it end with an error of Python's module locks."""
    ended = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True, check=True)

    assert ended.stdout == "[False, True]\n"
