"""A Textual application that follows the current size of its terminal, and exits when the terminal is closed.

Textual uses each size that it receives.  Sizes arrive by a signal whose handler can be interrupted by the next one, so
the oldest of many may be handled last; and Textual is not notified of a closed terminal.  Nothing here draws.
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
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Event, InputEvent, Key, Resize
from textual.geometry import Size
from textual.notifications import Notify, SeverityLevel

from kgtui.app.arenas import release_free_memory
from kgtui.app.terminal_driver import TerminalDriver
from kgtui.app.while_active import WhileActive
from kgtui.highlighting.cleaning import harmless_lines
from kgtui.screens.base.dropped_input import is_dropped
from kgtui.widgets.text.typed_keys import after_typed, is_for_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_S = 2.0
BRACKETED_PASTE = "\x1b[?2004h"
_MOST_PASSED_ON = 31  # keys that are remembered, more than one piece of a terminal's input holds while typing
HUNG_UP = 129  # exit status of a program that SIGHUP ended


class TerminalApp(App[None]):
    """Checks at intervals whether its terminal exists, and exits cleanly when it does not."""

    before_end: Callable[[], None] | None = None
    """Called when an exit not requested by the user begins, while the application is still complete."""

    fault: Exception | None = None
    """The exception that ended the application."""

    _painted = False
    _is_ending = False  # from the call of `exit` on
    _is_suspended = False  # while another program uses the terminal
    _key_modes: list[Any] | None = None  # terminal modes of this application; Any: numbers and a list of them
    _wanted_end: Callable[[], None] | None = None
    _passed_on: tuple[Key, ...] = ()
    _active_timers: tuple[WhileActive, ...] = ()

    def get_driver_class(self) -> type[Driver]:
        """Textual's driver for this platform; our own in place of that of Linux and macOS."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is LinuxDriver else chosen

    def on_mount(self) -> None:
        """Start the checks."""
        if not self.is_headless:
            with contextlib.suppress(termios.error, ValueError):
                self._key_modes = termios.tcgetattr(_keyboard())
            self.set_interval(LOOK_S, self._look)
            stop_and_continue_between_events()
        self.call_after_refresh(self._first_painted)

    def on_resize(self, event: Resize) -> None:
        """Redraw everything if the screen was laid out for this size: the terminal discarded parts at another one.

        Textual waits until the size no longer changes, and then draws nothing if it is the old one.
        """
        if any(screen.region.size == event.size for screen in self.screen_stack[-1:]):
            self.call_next(self.refresh)  # once the application has this size

    def while_active(self, every_s: float, work: Callable[[], bool]) -> None:
        """Call `work` at an interval, except while it is idle and no input arrives; then unused memory is released."""
        timer = WhileActive(self, every_s, work, rest=release_free_memory)
        self._active_timers = (*self._active_timers, timer)

    def wake(self) -> None:
        """Resume idle work, since something begins that may need it."""
        for timer in self._active_timers:
            timer.wake()

    async def on_event(self, event: Event) -> None:
        """Resume idle work on input, and drop input whose effect could not be seen.

        While exiting no input has an effect: a screen that it opened would stay empty, and fail to draw.
        """
        if isinstance(event, InputEvent):
            if self._is_ending:
                return
            self.wake()
        if not is_dropped(self, event):
            await super().on_event(event)

    def on_key(self, event: Key) -> None:
        """Pass on a key typed right after the one that opens a text field or the editor, before it has the focus.

        Textual drops such a key.  A field stops the keys that reach it, so none has its effect twice.
        """
        field = self.focused
        if field is None or not is_for_text(field, event) or any(event is one for one in self._passed_on):
            return
        event.prevent_default()
        key = Key(event.key, event.character)
        key._set_forwarded()  # or it would be taken for a new one if it bubbles up
        # A key without effect there, as ctrl+c without a selection, comes back.
        self._passed_on = (*self._passed_on[-_MOST_PASSED_ON:], key)
        field.post_message(key)

    async def action_quit(self) -> None:
        """Quit, after the letters typed before.  Textual's own key for this action remains when ours is remapped."""

        def quit_now() -> None:
            self._is_ending = False
            self.quit()

        self._is_ending = True  # a key typed after this one has no effect
        after_typed(self.focused, quit_now)

    def quit(self) -> None:
        """Quit at once."""
        self.exit()

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Exit, but not before the first screen is complete: Textual adds nothing to a screen while exiting."""
        if return_code and self.before_end is not None:
            self.before_end()
        self._is_ending = True
        if self._painted:
            super().exit(result, return_code, message)
        else:
            self._wanted_end = partial(self.exit, result, return_code, message)

    @contextlib.contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal for as long as the block lasts."""
        self._is_suspended = True
        try:
            with super().suspend():
                yield
        finally:
            self._is_suspended = False

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
        """Show a message for a moment, with control characters replaced."""
        words = harmless_lines(message)
        super().notify(words, title=title, severity=severity, timeout=timeout, markup=markup)

    def on_notify(self, event: Notify) -> None:
        """Remove an equal message; Textual's own handler, called next, adds this one and draws."""
        new = event.notification
        for shown in tuple(self._notifications):
            if (shown.message, shown.severity) == (new.message, new.severity):
                self._unnotify(shown, refresh=False)  # Textual has no public way to remove a single one

    def _handle_exception(self, error: Exception) -> None:
        """Textual calls this, which has no public name, for an exception that was not caught."""
        if self.fault is None:
            self.fault = error
            if self.before_end is not None:
                self.before_end()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """End without Textual's report, which prints the values of all variables; ours is printed afterwards."""
        self.panic()

    def _first_painted(self) -> None:
        self._painted = True
        if self._wanted_end is not None:
            self._wanted_end()

    def _look(self) -> None:
        if not _has_terminal():
            # Reading from a closed terminal would keep a core busy.
            self.exit(return_code=HUNG_UP)
            return
        if self._key_modes is not None and not self._is_suspended and _reads_lines():
            self._take_back(self._key_modes)
        size = Size(*shutil.get_terminal_size())
        if size != self.size:
            self.post_message(Resize(size, size))

    def _take_back(self, key_modes: list[Any]) -> None:
        """Restore the mode that reads keys instead of lines, and redraw everything.

        Not by suspending for a moment: that waits for the thread that reads keys, which waits for a line.
        """
        with contextlib.suppress(termios.error):
            termios.tcsetattr(_keyboard(), termios.TCSANOW, key_modes)
        if self._driver is not None:
            self._driver.write(BRACKETED_PASTE)  # a shell disables it before it starts a program
        self.refresh()


def stop_and_continue_between_events() -> None:
    """Defer the handlers of SIGTSTP and SIGCONT to the running event loop, and drop a SIGCONT that follows no stop.

    Textual's handlers write to a queue and wait for threads.  Run at once, inside the interrupted code, they deadlock
    when that holds the lock of the same queue.  A terminal that hangs up sends a SIGCONT after its SIGHUP.  Textual
    would then read keys in a second thread that never ends, and the program would not end either.
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
    """Whether a shell started the program as a job: only such a shell continues it after a stop.

    Such a shell gives each job its own process group, and is the session leader.
    """
    return os.getpgrp() != os.getsid(0)


def _reads_lines() -> bool:
    """Whether the terminal is in the shell's line mode although this program is in the foreground.

    That is the case after a SIGSTOP, which no program receives, once the shell continues it.
    """
    try:
        local_modes: int = termios.tcgetattr(_keyboard())[3]
        return bool(local_modes & termios.ICANON) and os.tcgetpgrp(_keyboard()) == os.getpgrp()
    except (OSError, ValueError, termios.error):
        return False


def _has_terminal() -> bool:
    """Whether the terminal that keys are read from is still open."""
    try:
        os.get_terminal_size(_keyboard())
    except (OSError, ValueError):
        return False
    return True


def _keyboard() -> int:
    """File descriptor of the keyboard."""
    return sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
