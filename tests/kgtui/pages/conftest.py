"""What leads to a page: the application on its doubles, as the page asks for it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs
from tests.kgtui.pages import streams
from tests.kgtui.pages.catalogue import TINY, Page
from tests.kgtui.pages.driving import Driven
from tests.kgtui.pages.stores import STORES

Opener = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(scope="module", autouse=True)
def seldom_swept() -> Iterator[None]:
    """Sweep seldom: a page makes so much that sweeping takes a third of its time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 1000)
    yield
    gc.set_threshold(*before)


@pytest.fixture(autouse=True)
def unpainted_pages(unpainted: None) -> None:
    """Use `unpainted` for every test of this folder: each shot draws the whole screen itself."""


@pytest.fixture
def opened(make_bench: Any, tmp_path: Path) -> Opener:
    """Starts an application, brings it to a page, and ends it."""

    def script_of(name: str) -> Any:
        return next(getattr(module, name) for module in (streams, timed_runs, fakes) if hasattr(module, name))

    @asynccontextmanager
    async def at(page: Page, **settings: Any) -> Any:
        device = "cuda" if page.timed else "cpu"
        recording = STORES[page.store](tmp_path, device) if page.store else None
        needs_cases = page.timed or page.store in ("four", "known")
        bench = make_bench(
            script_of(page.script),
            opened=page.opened,
            recording=recording,
            content=page.content,
            device=device,
            problem=timed_runs.timed_problem() if needs_cases else None,
            config_path=Path("/home/somebody/.config/kgtui/config.toml"),
            **settings,
        )
        bench.engine.starts = page.engine_starts
        # No key acts while the terminal is too small.
        size = (80, 24) if page.sizes == TINY else page.sizes[0]
        async with bench.app.run_test(size=size) as pilot:
            driven = Driven(bench=bench, pilot=pilot, scripts=script_of)
            await driven.reach(page)
            yield driven

    return at
