"""What the screen looks like without colours, and in those of the terminal."""

from __future__ import annotations

from typing import Any

import pytest


async def test_terminal_theme_uses_terminal_colours_only(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        styles = {part.style for strip in bench.app.screen._compositor.render_strips() for part in strip if part.style}
        colours = {colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
        assert [colour for colour in colours if not colour.is_default] == []


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_terminal_theme_has_no_background_and_reversed_cursor(make_bench: Any, theme: str) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.app.theme = theme
        await pilot.press("1", "j")
        await pilot.pause()
        parts = [part for strip in bench.app.screen._compositor.render_strips() for part in strip if part.style]
        assert {str(part.style.bgcolor) for part in parts if part.style.bgcolor} <= {
            "Color('default', ColorType.DEFAULT)"
        }
        assert any(part.style.reverse and part.text.startswith("1x781 bf16") for part in parts)
