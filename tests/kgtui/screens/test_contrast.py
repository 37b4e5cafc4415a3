"""Every text of the screen can be read on every background that it is drawn on, in each theme: 4.5 to 1 and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import Theme
from textual.widgets import Input, TextArea

from kgtui.highlighting.inks import INK_STYLES, Ink
from kgtui.screens.base.themes import themes
from kgtui.state.format.lines import Tone

STYLES = Path(__file__).parents[3] / "kgtui" / "styles"
LEAST = 4.5
SHADED = [theme for theme in themes() if not theme.name.startswith("ansi")]
SIXTEEN = [theme for theme in themes() if theme.name.startswith("ansi")]
# What comparisons behind text: layers of a colour and its share, the lowest first.
BACKGROUNDS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "page": (("background", 1.0),),
    "code": (("surface", 1.0),),
    "bar": (("panel", 1.0),),
    "cursor": (("background", 1.0), ("primary", 0.25)),
    "other cursor": (("background", 1.0), ("primary", 0.12)),
    "cursor of code": (("surface", 1.0), ("primary", 0.25)),
    "passed": (("success-muted", 1.0),),
    "failed": (("error-muted", 1.0),),
    "flagged": (("warning-muted", 1.0),),
    "busy": (("primary-muted", 1.0),),
}
OF_CODE = ("page", "code", "cursor of code")
# xterm and VGA, in the order of the sixteen colours.
PALETTES = {
    "xterm": "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5"
    " 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
    "VGA": "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa"
    " 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
}
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def tone_styles() -> dict[str, str]:
    """The colour of every tone, as the style sheet says it."""
    text = (STYLES / "app.tcss").read_text()
    rules = (line.partition("color: ") for line in text.splitlines() if line.startswith(".tone--"))
    return {name.split()[0].removeprefix(".tone--"): rest.partition(";")[0] for name, _, rest in rules}


def luminance(colour: Color) -> float:
    """As WCAG 2 has it."""
    parts = (value / 255 for value in (colour.r, colour.g, colour.b))
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def named(style: str) -> tuple[str, float]:
    """The variable and its share in "italic $foreground 78%"."""
    words = style.split()
    place = next(place for place, word in enumerate(words) if word.startswith("$"))
    share = words[place + 1 :]
    return words[place][1:], float(share[0].rstrip("%")) / 100 if share else 1.0


def variables(theme: Theme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables}


def pairs() -> Iterator[tuple[str, str, str]]:
    """What is drawn, in which style, on which background."""
    for tone, style in tone_styles().items():
        for background in BACKGROUNDS:
            yield tone, style, background
    for ink in Ink:
        for background in OF_CODE:
            yield f"ink {ink}", INK_STYLES[ink], background


@pytest.mark.parametrize("theme", SHADED, ids=lambda theme: theme.name)
def test_every_tone_and_ink_is_readable(theme: Theme) -> None:
    known = variables(theme)
    low = {}
    for name, style, background in pairs():
        colour, share = named(style)
        ground = Color(0, 0, 0)
        for layer, part in BACKGROUNDS[background]:
            ground = ground + Color.parse(known[layer]).with_alpha(part)
        found = contrast(ground + Color.parse(known[colour]).with_alpha(share), ground)
        if found < LEAST:
            low[name, background] = round(found, 2)
    assert low == {}


class Typing(App[None]):
    """Textual's own widgets for text, with the style sheet of every screen."""

    CSS_PATH = STYLES / "app.tcss"

    def compose(self) -> ComposeResult:
        yield Input(placeholder="what to type")
        yield TextArea("x = 1\n", show_line_numbers=True)


@pytest.mark.parametrize("theme", SHADED, ids=lambda theme: theme.name)
async def test_placeholders_and_line_numbers_are_readable(theme: Theme) -> None:
    app = Typing()
    app.register_theme(theme)
    app.theme = theme.name
    parts = ((Input, "input--placeholder"), (TextArea, "text-area--gutter"), (TextArea, "text-area--cursor-gutter"))
    async with app.run_test():
        low = {}
        for widget, part in parts:
            style = app.query_one(widget).get_component_rich_style(part)
            assert style.color is not None
            assert style.bgcolor is not None
            found = contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))
            if found < LEAST:
                low[part] = round(found, 2)
    assert low == {}


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("theme", SIXTEEN, ids=lambda theme: theme.name)
def test_every_tone_is_readable_in_sixteen_colours(theme: Theme, palette: str) -> None:
    known = variables(theme)
    colours = [Color.parse(f"#{text}") for text in PALETTES[palette].split()]
    ground = Color(0, 0, 0) if theme.dark else Color(255, 255, 255)
    low = {}
    for name, style, _ in pairs():
        said = known[named(style)[0]].removeprefix("ansi_")
        if said == "default":
            continue  # the terminal's own, on its own background
        place = NAMES.index(said.removeprefix("bright_")) + (8 if said.startswith("bright_") else 0)
        found = contrast(colours[place], ground)
        if found < LEAST:
            low[name] = (said, round(found, 2))
    assert low == {}


def test_every_tone_has_colour_in_style_sheet() -> None:
    assert set(tone_styles()) == {tone.value for tone in Tone}
