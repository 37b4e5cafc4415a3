"""Textual's driver of a terminal, with an input thread without a timer, and output that outlives its terminal.

Textual's own input thread wakes ten times a second, because an escape character may be the key or the start of a
sequence, which only a pause can tell.  Here it wakes at that interval right after input, and otherwise sleeps.

Textual's output thread ends at the first error, that of a closed terminal; then its queue fills up, and the program
waits for it forever.  Here such errors are ignored.
"""

from __future__ import annotations

import contextlib
import os
import selectors
from codecs import getincrementaldecoder
from threading import Event
from typing import TYPE_CHECKING, TextIO, cast

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import TextIOWrapper

    from textual.app import App
    from textual.message import Message

TICK_S = 0.1
_TICKS_AFTER_INPUT = 1 + round(constants.ESCAPE_DELAY / TICK_S)
_MOST_BYTES = 4096


class ReadableEvent(Event):
    """An event whose file descriptor is readable while it is set."""

    def __init__(self) -> None:
        super().__init__()
        self._reading, self._writing = os.pipe()

    def fileno(self) -> int:
        """The descriptor, for a selector."""
        return self._reading

    def set(self) -> None:
        """Set the event and make the descriptor readable."""
        if not self.is_set():
            os.write(self._writing, b"\0")
        super().set()

    def clear(self) -> None:
        """Clear the event and empty the descriptor."""
        if self.is_set():
            os.read(self._reading, 1)
        super().clear()

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._reading)
        os.close(self._writing)


class DroppingOutput:
    """A file whose errors are ignored: what cannot be written is dropped."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write the text, if that is possible; returns its length."""
        with contextlib.suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the file, if that is possible."""
        with contextlib.suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Waits for input or the end, with no wake-ups while there is none; drops what a closed terminal does not take."""

    exit_event: ReadableEvent

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        assert self._file is not None
        self._file = cast("TextIOWrapper", DroppingOutput(self._file))  # cast: it has what Textual uses of a file
        self.exit_event = ReadableEvent()  # open until the program ends: a driver is closed and used again

    def run_input_thread(self) -> None:
        """Read keys until `exit_event` is set; replaces Textual's loop with its timer."""
        post_input(self.fileno, self.exit_event, self.process_message, debug=self._debug)


def post_input(fileno: int, end: ReadableEvent, post: Callable[[Message], None], *, debug: bool = False) -> None:
    """Post the messages that a terminal's bytes stand for, until `end` is set."""
    parser = XTermParser(debug)
    decode = getincrementaldecoder("utf-8")().decode
    ticks_left = 0
    with selectors.SelectSelector() as selector:  # unlike epoll, it takes files too
        selector.register(fileno, selectors.EVENT_READ)
        selector.register(end, selectors.EVENT_READ)
        while not end.is_set():
            ready = selector.select(TICK_S if ticks_left else None)
            ticks_left = max(ticks_left - 1, 0)
            messages: list[Message] = []
            if any(key.fd == fileno for key, _ in ready):
                ticks_left = _TICKS_AFTER_INPUT
                read = b""
                with contextlib.suppress(OSError):  # as Linux reports the end of a terminal
                    read = os.read(fileno, _MOST_BYTES)
                if not read:
                    selector.unregister(fileno)  # closed: it would stay readable
                elif text := decode(read):
                    messages += parser.feed(text)
            for message in (*messages, *parser.tick()):
                post(message)
