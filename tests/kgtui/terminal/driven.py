"""A program on a pseudo-terminal: started as a shell would start it, pressed, resized, and ended for certain.

Nothing here waits for a time: it waits for what is on the screen, and gives up after `PATIENCE_S`, showing it.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.guards import PATIENCE_S
from tests.kgtui.terminal.emulated import EmulatedTerminal


class Driven:
    """One program and its terminal; leaving the context kills the program if it still runs."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int,
        rows: int,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.screen = EmulatedTerminal(columns, rows)
        self._master, self._slave = pty.openpty()
        self._set_size(columns, rows)
        self._settings_before = termios.tcgetattr(self._slave)
        self._child = subprocess.Popen(
            command,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0),
        )
        self._ended = os.pidfd_open(self._child.pid)
        self._hung_up = False

    def __enter__(self) -> Driven:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        for descriptor in (self._ended, self._slave, *(() if self._hung_up else (self._master,))):
            os.close(descriptor)

    # What a user does

    def press(self, keys: str) -> None:
        """Send what a terminal sends for these keys."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal another size, as dragging its corner does."""
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def signal(self, number: signal.Signals) -> None:
        """Send the program, and nothing else, a signal."""
        self._child.send_signal(number)

    def hang_up(self) -> None:
        """Take the terminal away."""
        os.close(self._master)
        self._hung_up = True

    # What is waited for

    def until(self, seen: Callable[[Any], bool]) -> None:
        """Read until the screen is so, between two frames.

        Raises:
            AssertionError: the program ended, or nothing came of it.
        """
        deadline_s = time.monotonic() + PATIENCE_S
        while not (self.screen.whole and seen(self.screen)):
            if not self._read(timeout_s=max(0.0, deadline_s - time.monotonic())):
                ended = "the program ended" if self._has_ended() else f"nothing within {PATIENCE_S:.0f} s"
                raise AssertionError(f"{ended}; the terminal shows\n{self.screen.text}\n{self.screen.outside}")

    def take_settings_back(self) -> None:
        """Let the terminal echo and read lines as before the program was started, as a shell does for itself."""
        termios.tcsetattr(self._slave, termios.TCSANOW, self._settings_before)

    def until_text(self, text: str) -> None:
        """Read until the text is somewhere on the screen."""
        self.until(lambda screen: text in screen.text)

    def until_stopped(self) -> None:
        """Wait until the program has stopped itself, as ctrl+z stops one."""
        # Reading goes on, for a program that cannot write does not get so far.
        deadline_s = time.monotonic() + PATIENCE_S
        while os.waitpid(self._child.pid, os.WUNTRACED | os.WNOHANG) == (0, 0):
            assert time.monotonic() < deadline_s, f"it does not stop; the terminal shows\n{self.screen.text}"
            self._read(timeout_s=0.01)
        self._drain()

    def exit_status(self) -> int:
        """Read until the program has ended; its status, negative for a signal."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not self._has_ended():
            assert time.monotonic() < deadline_s, f"it does not end; the terminal shows\n{self.screen.text}"
            self._read(timeout_s=1.0)
        self._drain()
        return self._child.wait()

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._child.pid

    @property
    def keeps_settings(self) -> bool:
        """Whether the terminal echoes, and reads lines, as before the program was started."""
        return termios.tcgetattr(self._slave) == self._settings_before

    # Inside

    def _has_ended(self) -> bool:
        return bool(select.select([self._ended], [], [], 0)[0])

    def _drain(self) -> None:
        while not self._hung_up and select.select([self._master], [], [], 0)[0]:
            self._read(timeout_s=0.0)

    def _read(self, *, timeout_s: float) -> bool:
        """Follow what was written; False if nothing came in time or the program has ended."""
        readable = [self._ended] if self._hung_up else [self._master, self._ended]
        ready = select.select(readable, [], [], timeout_s)[0]
        if self._hung_up or self._master not in ready:
            return False
        self.screen.feed(os.read(self._master, 1 << 16))
        if self.screen.replies:
            os.write(self._master, self.screen.replies)
            self.screen.replies.clear()
        return True

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
