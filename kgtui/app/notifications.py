"""Writes to the terminal outside the screen: its title, and the end of a long run while it has no focus.

The only place that writes sequences of its own to the terminal.  Nothing is written while an editor uses the terminal.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, TextIO

from kgtui.settings.schema import Notify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.app import App

    from kgtui.settings.preferences import Preferences

_ESC, _BELL = "\x1b", "\x07"
_KEEP_TITLE, _GIVE_TITLE_BACK = f"{_ESC}[22;2t", f"{_ESC}[23;2t"


@contextlib.contextmanager
def preserved_title(terminal: TextIO) -> Iterator[None]:
    """Context in which the terminal saves its title, and restores it at the end; some terminals support neither."""
    terminal.write(_KEEP_TITLE)
    terminal.flush()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the terminal may be closed; the exit must still be reported
            terminal.write(_GIVE_TITLE_BACK)
            terminal.flush()


def title_sequence(words: str) -> str:
    """Escape sequence that sets the title of a terminal."""
    return f"{_ESC}]2;{_printable(words)}{_BELL}"


def notice(how: Notify, words: str, *, in_tmux: bool) -> str:
    """Escape sequence that notifies of the end of a run; tmux forwards it only if configured."""
    if how is Notify.OFF:
        return ""
    if how is Notify.BELL:
        return _BELL
    text = _printable(words).replace(";", ",")
    body = f"9;{text}" if how is Notify.OSC9 else f"777;notify;kgtui;{text}"
    sequence = f"{_ESC}]{body}{_BELL}"
    return f"{_ESC}Ptmux;{sequence.replace(_ESC, _ESC * 2)}{_ESC}\\" if in_tmux else sequence


class Notifications:
    """Writes to the terminal of one application."""

    def __init__(self, app: App[None], *, preferences: Callable[[], Preferences], clock: Callable[[], float]) -> None:
        self._app = app
        self._preferences = preferences
        self._clock = clock
        self._began: float | None = None
        self._title = ""
        self._is_suspended = False

    def begin(self) -> None:
        """Subscribe to the terminal being lent to an editor and returned."""
        self._app.app_suspend_signal.subscribe(self._app, lambda _: self._set_suspended(suspended=True))
        self._app.app_resume_signal.subscribe(self._app, lambda _: self._set_suspended(suspended=False))

    def run_began(self, *, is_cached: bool) -> None:
        """A run begins; an answer from the store ends at once without a notification."""
        self._began = None if is_cached else self._clock()

    def run_ended(self, words: str) -> None:
        """Notify of a verdict; `words` are its text."""
        began, self._began = self._began, None
        preferences = self._preferences()
        is_watched = self._app.app_focus
        if began is not None and not is_watched and self._clock() - began >= preferences.notify_after_s:
            self._write(notice(preferences.notify, words, in_tmux=bool(preferences.environment.get("TMUX"))))

    def show_title(self, words: str) -> None:
        """Set the terminal's title, if it differs."""
        if words != self._title and self._write(title_sequence(words)):
            self._title = words

    def _set_suspended(self, *, suspended: bool) -> None:
        self._is_suspended = suspended

    def _write(self, sequence: str) -> bool:
        driver = self._app._driver  # Textual has no public way to write; its own bell uses this
        if driver is None or self._app.is_headless or self._is_suspended:
            return False
        driver.write(sequence)
        return True


def _printable(words: str) -> str:
    return "".join(sign for sign in words if sign.isprintable())
