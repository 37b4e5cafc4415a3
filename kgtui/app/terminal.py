"""An application that keeps to its terminal: to the size that it has now, and to its being there at all.

Textual uses what it receives.  Sizes arrive by a signal whose handler another one interrupts, so that the
oldest of many may come last; and it is not notified of a terminal that was closed.  Nothing here draws.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import termios
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from textual.app import App
from textual.events import Event, InputEvent, Key, Resize
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.widgets import Input

from kgtui.app.while_active import WhileActive
from kgtui.highlighting.cleaning import harmless_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_S = 1.0
BRACKETED_PASTE = "\x1b[?2004h"
HUNG_UP = 129  # what a shell calls death by SIGHUP


class TerminalApp(App[None]):
    """Checks at intervals whether its terminal exists, and exits cleanly when it does not."""

    before_end: Callable[[], None] | None = None
    """Called when it begins to end otherwise than by its user, as long as all of it is there."""

    fault: Exception | None = None
    """What was raised and ended it."""

    _painted = False
    _lent = False  # while another program has the terminal
    _key_modes: list[Any] | None = None  # terminal modes of this application; Any: numbers and a list of them
    _wanted_end: Callable[[], None] | None = None
    _active_timers: tuple[WhileActive, ...] = ()

    def on_mount(self) -> None:
        """Begin to look."""
        if not self.is_headless:
            with contextlib.suppress(termios.error, ValueError):
                self._key_modes = termios.tcgetattr(_keyboard())
            self.set_interval(LOOK_S, self._look)
            stop_and_continue_between_events()
        self.call_after_refresh(self._first_painted)

    def on_resize(self, event: Resize) -> None:
        """Draw all of it where the size is the same: it was another for a moment, and the terminal cut off the rest."""
        if event.size == self.size:
            self.refresh()

    def while_active(self, every_s: float, work: Callable[[], bool]) -> None:
        """Call `work` at an interval, except while it is idle and no input comes."""
        self._active_timers = (*self._active_timers, WhileActive(self, every_s, work))

    def wake(self) -> None:
        """Something begins that such work may be needed for."""
        for timer in self._active_timers:
            timer.wake()

    async def on_event(self, event: Event) -> None:
        """Wake the work that rests while no input comes."""
        if isinstance(event, InputEvent):
            self.wake()
        await super().on_event(event)

    def on_key(self, event: Key) -> None:
        """Insert a letter that was typed right after the key that opens a text field, before the field had the focus.

        Textual drops it, since the field would take it.  A field stops those that reach it, so that none comes twice.
        """
        if isinstance(self.focused, Input) and event.is_printable:
            event.prevent_default()
            self.focused.post_message(Key(event.key, event.character))

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End it; not before the first screen is whole, for Textual adds nothing to a screen of one that ends."""
        if return_code and self.before_end is not None:
            self.before_end()
        if self._painted:
            super().exit(result, return_code, message)
        else:
            self._wanted_end = partial(self.exit, result, return_code, message)

    @contextlib.contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal for as long as the block lasts."""
        self._lent = True
        try:
            with super().suspend():
                yield
        finally:
            self._lent = False

    def action_suspend(self) -> None:
        """Suspend to the shell until it resumes the program; without job control, only report that."""
        if self.is_headless or not _is_job():
            self.notify("not suspended: no shell could resume it; ctrl+q quits", markup=False)
        else:
            self.action_suspend_process()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message for a moment; what it quotes steers no terminal."""
        words = harmless_lines(message)
        super().notify(words, title=title, severity=severity, timeout=timeout, markup=markup)

    def _handle_exception(self, error: Exception) -> None:
        """Textual calls this, which has no public name, for an exception that was not caught."""
        if self.fault is None:
            self.fault = error
            if self.before_end is not None:
                self.before_end()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """End without the report of Textual, which prints the values of all variables; ours comes afterwards."""
        self.panic()

    def _first_painted(self) -> None:
        self._painted = True
        if self._wanted_end is not None:
            self._wanted_end()

    def _look(self) -> None:
        if not _has_terminal():
            # Reading from a closed one would keep a core busy.
            self.exit(return_code=HUNG_UP)
            return
        if self._key_modes is not None and not self._lent and _reads_lines():
            self._take_back(self._key_modes)
        size = Size(*shutil.get_terminal_size())
        if size != self.size:
            self.post_message(Resize(size, size))

    def _take_back(self, key_modes: list[Any]) -> None:
        """Read keys again instead of lines, and draw all again.

        Not by lending the terminal for a moment: that waits for the thread that reads keys, which waits for a line.
        """
        with contextlib.suppress(termios.error):
            termios.tcsetattr(_keyboard(), termios.TCSANOW, key_modes)
        if self._driver is not None:
            self._driver.write(BRACKETED_PASTE)  # a shell turns it off before it starts a program
        self.refresh()


def stop_and_continue_between_events() -> None:
    """Defer the handlers of SIGTSTP and SIGCONT to the running event loop, and drop a SIGCONT without a stop before it.

    Textual's handlers write to a queue and wait for threads.  Run at once, inside of whatever they interrupt, they
    wait without end when that holds the lock of the same queue.  A terminal that hangs up sends a SIGCONT behind its
    SIGHUP.  Textual would read the keys in a second thread then, which nothing ends, and neither would the program.
    """
    stop, resume = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    assert callable(stop) and callable(resume)
    loop = asyncio.get_running_loop()
    stopped = False

    def stop_once() -> None:
        nonlocal stopped
        stopped = True
        stop(signal.SIGTSTP, None)

    def resume_if_stopped() -> None:
        nonlocal stopped
        if stopped:
            stopped = False
            resume(signal.SIGCONT, None)

    loop.add_signal_handler(signal.SIGTSTP, stop_once)
    loop.add_signal_handler(signal.SIGCONT, resume_if_stopped)


def _is_job() -> bool:
    """Whether a shell started it as a job, for that alone would start it again once it is stopped.

    Such a shell gives each job a group of processes of its own, and leads the session itself.
    """
    return os.getpgrp() != os.getsid(0)


def _reads_lines() -> bool:
    """Whether the terminal is in the shell's mode, with echoed lines, while it should be ours.

    So it is after a SIGSTOP, which no program receives, once the shell has brought it back.
    """
    try:
        local_modes: int = termios.tcgetattr(_keyboard())[3]
        return bool(local_modes & termios.ICANON) and os.tcgetpgrp(_keyboard()) == os.getpgrp()
    except (OSError, ValueError, termios.error):
        return False


def _has_terminal() -> bool:
    """Whether what we read keys from is still there; a terminal that was closed answers no more."""
    try:
        os.get_terminal_size(_keyboard())
    except (OSError, ValueError):
        return False
    return True


def _keyboard() -> int:
    """File descriptor of the keyboard."""
    return sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
