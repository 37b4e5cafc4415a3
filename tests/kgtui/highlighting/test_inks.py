"""Inks follow the theme, and text is never markup."""

from __future__ import annotations

import pytest
from pygments.token import STANDARD_TYPES, Token
from rich.color import Color as RichColor
from textual.app import App
from textual.color import Color

from kgtui.highlighting.inks import INK_STYLES, Ink, Span, ThemedInks, ink_of, rich_style, spans_of

BLACK = Color(0, 0, 0)


def test_every_ink_has_theme_style() -> None:
    assert set(INK_STYLES) == set(Ink)
    assert all("$" in style for style in INK_STYLES.values())


def test_every_token_type_of_pygments_has_an_answer() -> None:
    assert {ink_of(token) for token in STANDARD_TYPES} <= {None, *Ink}
    assert ink_of(Token.Literal.Number.Integer.Long) is Ink.NUMBER


def test_neighbours_of_one_ink_are_one_span() -> None:
    tokens = [(0, Token.Comment, "# a"), (3, Token.Comment.Single, " b\n")]
    assert spans_of(tokens) == (Span(0, 5, Ink.COMMENT),)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light"])
async def test_every_ink_is_drawable_in_every_theme(theme: str) -> None:
    app: App[None] = App()
    async with app.run_test():
        app.theme = theme
        styles = ThemedInks().under(app.theme_variables, BLACK)
        assert set(styles) == set(Ink)
        assert all(style.bgcolor is None for style in styles.values())


def test_transparent_colour_is_mixed_with_background() -> None:
    style = rich_style("#ffffff 50%", {}, BLACK)
    assert style.color is not None
    assert style.color.name == "#7f7f7f"


def test_inks_follow_theme_change() -> None:
    names = {word.lstrip("$") for style in INK_STYLES.values() for word in style.split() if word.startswith("$")}
    inks = ThemedInks()
    green, blue = (inks.under(dict.fromkeys(names, colour), BLACK)[Ink.ADDED] for colour in ("#00ff00", "#0000ff"))
    assert (green.color, blue.color) == (RichColor.parse("#00ff00"), RichColor.parse("#0000ff"))
