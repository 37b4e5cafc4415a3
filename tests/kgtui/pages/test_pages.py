"""Every page at every size, in colour and without; look at a changed one before accepting it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from kgtui.screens import screen_ids
from kgtui.state.format.glyphs import State
from kgtui.state.workbench.status import status_of
from kgtui.widgets.panes import pane_modules
from tests.kgtui.pages.catalogue import PAGES, SIZES, Page
from tests.kgtui.pages.drawing import page_text

BY_NAME = {page.name: page for page in PAGES}
# Between them they have every kind of widget that has colours of its own.
DRAWN_ANEW = ("failed", "IR", "two-sources", "history", "plot")


class AsText(SingleFileSnapshotExtension):
    """One file of text for each page."""

    _write_mode = WriteMode.TEXT
    _file_extension = "txt"


@pytest.mark.sampled(group=lambda page: page.screen)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_a_page_looks_as_before(opened: Any, page: Page, snapshot: SnapshotAssertion) -> None:
    async with opened(page) as driven:
        screen = driven.bench.app.screen
        assert page.screen == (screen.WHERE.value if hasattr(screen, "WHERE") else "palette")
        if page.state is not None:
            assert status_of(screen.bench.view, screen.bench.strip_context(0.0)).state is page.state
        pairs = await driven.shots(page.sizes)
    for dark, plain in pairs:
        assert plain.colours == frozenset()
        assert not dark.is_in_the_terminals_colours
        # Through a question or a list that lies over a page, the page is seen in colour only.
        assert plain.rows == dark.rows or screen.is_modal
        assert [words for words in page.says if words not in plain.text] == []
    assert page_text(pairs) == snapshot(extension_class=AsText)


@pytest.mark.parametrize("name", DRAWN_ANEW)
async def test_page_switched_to_no_colour_equals_initial_one(
    opened: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = BY_NAME[name]
    async with opened(page) as driven:
        ((_, dressed),) = await driven.shots(SIZES[:1])
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(page) as driven:
        began = await driven.still(coloured=False)
        assert (began.rows, began.looks) == (dressed.rows, dressed.looks)


def test_every_screen_has_a_page() -> None:
    assert {*screen_ids()} - {page.screen for page in PAGES} == set()


def test_every_state_of_the_workbench_has_a_page() -> None:
    behind_the_outcome = {State.PROVING, State.PROBING, State.COMPILING}
    with_a_model = {State.GENERATING}  # tests/kgtui/screens/test_candidates.py
    assert {*State} - {page.state for page in PAGES} == behind_the_outcome | with_a_model


def test_every_tab_of_the_workbench_has_a_page() -> None:
    pressed = {key for page in PAGES if page.screen == "workbench" for key in page.keys}
    assert {str(number) for number, _ in enumerate(pane_modules(), start=1)} - pressed == set()


def test_every_page_has_a_name_of_its_own() -> None:
    assert [name for name, pages in Counter(page.name for page in PAGES).items() if pages > 1] == []
