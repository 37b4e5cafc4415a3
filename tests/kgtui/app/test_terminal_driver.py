"""Keys are posted as by Textual's own driver, without a timer in between; a closed terminal blocks nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import queue
import select
import selectors
import signal
import sys
import tty
from collections.abc import Callable, Iterator
from threading import Thread
from typing import cast

import pytest
from textual.app import App
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key
from textual.message import Message

from kgtui.app.terminal import TerminalApp
from kgtui.app.terminal_driver import ReadableEvent, TerminalDriver, post_input

DEADLINE_S = 60.0


class Waits(selectors.SelectSelector):
    """A selector that reports each wait that has no timeout."""

    endless: queue.SimpleQueue[None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            self.endless.put(None)
        return super().select(timeout)


class Reader:
    """Reads a descriptor in a thread of its own."""

    def __init__(self, fileno: int) -> None:
        self.fileno, self.end = fileno, ReadableEvent()
        self.messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._thread = Thread(target=post_input, args=(fileno, self.end, self.messages.put), daemon=True)
        self._thread.start()

    def key(self) -> str:
        message = self.messages.get(timeout=DEADLINE_S)
        assert isinstance(message, Key)
        return message.key

    def stop(self) -> None:
        self.end.set()
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()
        self.end.close()
        os.close(self.fileno)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> queue.SimpleQueue[None]:
    Waits.endless = queue.SimpleQueue()
    monkeypatch.setattr(selectors, "SelectSelector", Waits)
    return Waits.endless


@pytest.fixture
def keyboard(endless: queue.SimpleQueue[None]) -> Iterator[tuple[int, Reader]]:
    """The end of a terminal that keys are written to, and the reader of the other end, which waits for them."""
    writing, reading = pty.openpty()
    tty.setraw(reading)
    reader = Reader(reading)
    endless.get(timeout=DEADLINE_S)
    yield writing, reader
    reader.stop()
    os.close(writing)


@pytest.fixture
def signal_handlers() -> Iterator[None]:
    """The handlers that a driver replaces come back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("ab", ["a", "b"]),
        ("\x1b[A", ["up"]),
        ("é", ["é"]),
        ("\x1b", ["escape"]),
    ],
)
def test_typed_keys_are_posted(
    keyboard: tuple[int, Reader], endless: queue.SimpleQueue[None], typed: str, keys: list[str]
) -> None:
    writing, reader = keyboard
    os.write(writing, typed.encode())
    assert [reader.key() for _ in keys] == keys
    endless.get(timeout=DEADLINE_S)
    assert reader.messages.empty()


def test_sequence_in_parts_is_one_key(keyboard: tuple[int, Reader]) -> None:
    writing, reader = keyboard
    for part in (b"\xc3", b"\xa4\x1b[", b"B"):
        os.write(writing, part)
    assert [reader.key(), reader.key()] == ["ä", "down"]


@pytest.mark.parametrize("opened", [os.pipe, pty.openpty], ids=["end of file", "error"])
def test_closed_input_is_not_read_again(
    endless: queue.SimpleQueue[None], opened: Callable[[], tuple[int, int]]
) -> None:
    reading, writing = opened()
    os.close(writing)
    reader = Reader(reading)
    for _ in range(2):
        endless.get(timeout=DEADLINE_S)
    reader.stop()


def write_often(output: WriterThread) -> None:
    """Write more than the queue of the output holds, and wait until it has ended."""
    for _ in range(3 * MAX_QUEUED_WRITES):
        output.write("x")
    output.stop()


async def test_closed_terminal_takes_all_output(monkeypatch: pytest.MonkeyPatch, signal_handlers: None) -> None:
    ours, theirs = pty.openpty()
    os.close(ours)
    with os.fdopen(theirs, "w") as closed:
        monkeypatch.setattr(sys, "__stderr__", closed)
        driver = TerminalDriver(cast(App[object], TerminalApp()))  # cast: what the application returns is not used
        assert driver._file is not None
        output = WriterThread(driver._file)
        output.start()
        writing = Thread(target=write_often, args=(output,), daemon=True)
        writing.start()
        writing.join(DEADLINE_S)
        assert not writing.is_alive()
        with contextlib.suppress(OSError):  # what was not written
            closed.close()


def test_event_is_readable_while_it_is_set() -> None:
    event = ReadableEvent()
    for _ in range(2):
        event.set()
        event.set()
        assert select.select([event], [], [], 0)[0] == [event]
        event.clear()
        event.clear()
        assert select.select([event], [], [], 0)[0] == []
    event.close()


def test_application_replaces_only_the_driver_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TerminalApp().driver_class is TerminalDriver
    monkeypatch.setattr("textual.constants.DRIVER", "textual.drivers.headless_driver:HeadlessDriver")
    assert TerminalApp().driver_class is HeadlessDriver
