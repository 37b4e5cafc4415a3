"""Messages at the edge of the screen: they never cover the state of a run."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets._toast import Toast


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (120, 36)])
async def test_many_messages_leave_the_strip_visible(make_bench: Any, size: tuple[int, int]) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=size, notifications=True) as pilot:
        await bench.settled(pilot)

        def covered() -> list[int]:
            return [row for row in range(size[1]) if isinstance(screen.get_widget_at(size[0] - 9, row)[0], Toast)]

        screen = bench.app.screen
        for number in range(12):
            bench.app.notify(f"message {number}: " + "the file cannot be written, since the disk is full " * 2)
        await bench.until(pilot, lambda: bool(covered()))
        await pilot.pause()
        assert min(covered()) >= size[1] // 3


async def test_repeated_message_is_shown_once(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        for message in ("saved", "not saved", "saved"):
            bench.app.notify(message)
        await bench.until(pilot, lambda: len(bench.app.screen.query(Toast)) == 2)
        assert [note.message for note in bench.app._notifications] == ["not saved", "saved"]
