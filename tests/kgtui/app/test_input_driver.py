"""The input thread posts keys as Textual's own does, and waits without a timer when there is none."""

from __future__ import annotations

import os
import pty
import queue
import select
import selectors
import tty
from collections.abc import Iterator
from threading import Thread

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key
from textual.message import Message

from kgtui.app.input_driver import InputDriver, ReadableEvent, post_input
from kgtui.app.terminal import TerminalApp

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


def test_closed_input_is_not_read_again(endless: queue.SimpleQueue[None]) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    reader = Reader(reading)
    for _ in range(2):
        endless.get(timeout=DEADLINE_S)
    reader.stop()


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
    assert TerminalApp().driver_class is InputDriver
    monkeypatch.setattr("textual.constants.DRIVER", "textual.drivers.headless_driver:HeadlessDriver")
    assert TerminalApp().driver_class is HeadlessDriver
