"""Keys that arrive while the application exits: they open nothing, since a new screen would stay empty."""

from __future__ import annotations

from typing import Any

import pytest
from textual.events import Key

from tests.kgtui import fakes


def post(app: Any, *keys: str) -> None:
    """Keys as the terminal sends them, all before the first is handled."""
    for key in keys:
        app.post_message(Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize("key", ["c", "ctrl+o", "ctrl+p", "I", "question_mark"])
@pytest.mark.parametrize("is_first", [False, True])
async def test_key_beside_the_quit_key_opens_nothing(make_bench: Any, key: str, is_first: bool) -> None:
    bench = make_bench(fakes.all_pass)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        post(bench.app, *((key, "ctrl+q") if is_first else ("ctrl+q", key)))
        await bench.until(pilot, lambda: not bench.app.is_running)
    assert bench.app.fault is None
