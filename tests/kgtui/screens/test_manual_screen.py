"""The Manual screen: the page follows the selected topic, and the text can be read and copied by keys."""

from __future__ import annotations

from typing import Any

from kgtui import manual
from kgtui.state.format.lines import plain_text
from kgtui.widgets.text.page_view import PageView


def first_line(screen: Any) -> str:
    """The title of the page that is shown."""
    return plain_text((screen.query_one("#page", PageView).rows[0].line,))


async def test_the_page_follows_the_selected_topic(make_bench: Any) -> None:
    bench = make_bench()
    titles = tuple(manual.topics().values())
    async with bench.app.run_test(size=(160, 50)) as pilot:
        await bench.settled(pilot)
        await pilot.press("f1", "m")
        await bench.settled(pilot)
        screen = bench.app.screen
        assert first_line(screen) == titles[0]
        await pilot.press("j")
        await pilot.pause()
        assert first_line(screen) == titles[1]
        await pilot.press("G")
        await pilot.pause()
        assert first_line(screen) == titles[-1]


async def test_enter_focuses_text_and_cursor_moves(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(160, 50)) as pilot:
        await bench.settled(pilot)
        await pilot.press("f1", "m")
        await bench.settled(pilot)
        screen = bench.app.screen
        await pilot.press("enter")
        page = screen.query_one("#page", PageView)
        assert screen.focused is page
        await pilot.press("j", "j")
        await pilot.pause()
        assert page.highlighted == 2


async def test_narrow_terminal_shows_whole_topics_or_wide_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("f1", "m")
        await bench.settled(pilot)
        topics, page = (bench.app.screen.query_one(name, PageView) for name in ("#topics", "#page"))
        assert topics.size.width >= max(map(len, manual.topics()))
        await pilot.press("enter")
        await bench.until(pilot, lambda: page.outer_size.width == 80)
        await pilot.press("tab")
        await bench.until(pilot, lambda: page.outer_size.width < 60)
        assert bench.app.screen.focused is topics


async def test_the_page_is_copied_as_markdown(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f1", "m")
        await bench.settled(pilot)
        await pilot.press("Y")
        await pilot.pause()
        assert bench.app.clipboard == manual.page(next(iter(manual.topics())))


async def test_escape_leads_back_to_the_help(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f1")
        await pilot.pause()
        helping = bench.app.screen
        await pilot.press("m", "escape")
        await pilot.pause()
        assert bench.app.screen is helping
