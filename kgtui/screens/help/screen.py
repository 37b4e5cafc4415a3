"""Every key, made from the list of actions; it changes nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.base.screenshots import SavableScreen
from kgtui.settings.keys import ACTIONS, Action, Where, bindings_of, shown_keys
from kgtui.state.format.lines import Line, Span, Tone, line, muted, plain_text, strong
from kgtui.widgets.text.toned import Lines
from kgtui.widgets.text.tones import TONE_CLASSES
from kgtui.widgets.text.typed_keys import Field

PLACE = Place.OVER

_KEYS_WIDTH = 16
_CONCEPTS = (
    ("problem", "an operator with its cases, reference, tolerance and cost"),
    ("candidate", "a version of your file, identified by its hash"),
    ("run", "one verification of one candidate; each has a number and is saved"),
    ("stale", "a result of an earlier version, shown until the new one arrives"),
    ("baseline", "what the candidate is timed against, in the same run: eager, compile, cublas, vllm"),
    ("roofline", "the least time that this device needs for the bytes and operations of a case"),
    ("A/A", "the candidate timed against itself: smaller differences do not count"),
    ("flagged", "correct, but not credible; the finding has the reason"),
)


def make(host: Host) -> HelpScreen:
    """The help, with the keys of the screen below first."""
    return HelpScreen(host)


class HelpScreen(ModalScreen[None], SavableScreen):
    """The help; closes with its own key and with the one that opened it."""

    WHERE = Where.HELP
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)  # Textual reads bindings only from the first base class
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Where.HELP),
        *(
            replace(one, action="app.pop_screen")
            for one in bindings_of(Where.EVERYWHERE)
            if one.id == "everywhere.help"
        ),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._host = host
        self._first = Where.EVERYWHERE

    def compose(self) -> ComposeResult:
        """Create the widgets: the keys by group, then the terms of the screen, and an input for a search."""
        with VerticalScroll(id="help"):
            yield Lines(id="help-text", indent=_KEYS_WIDTH + 2)
        yield Field(placeholder="letters of a key, an action or a word", id="help-search", compact=True)

    def on_screen_resume(self) -> None:
        """Show the keys of the screen below first."""
        below = self.app.screen_stack[-2]
        self._first = below.WHERE if isinstance(below, KgtuiScreen) else Where.EVERYWHERE
        self._search.value = ""
        self._search.display = False
        self._draw("")
        self.query_one("#help").scroll_home(animate=False)
        self.query_one("#help").focus()

    async def action_scroll(self, direction: str) -> None:
        """Scroll by a line, or to an end."""
        await self.query_one("#help").run_action(f"scroll_{direction}")

    def action_find(self) -> None:
        """Filter the lines by typed letters."""
        self._search.display = True
        self._search.focus()

    def action_step_back(self) -> None:
        """Leave the search, or the help."""
        if self._search.display:
            self._search.value = ""
            self._search.display = False
            self.query_one("#help").focus()
        else:
            self.app.pop_screen()

    @on(Input.Changed, "#help-search")
    def _search_changed(self, message: Input.Changed) -> None:
        self._draw(message.value)

    @on(Input.Submitted, "#help-search")
    def _search_submitted(self) -> None:
        self.query_one("#help").focus()

    @property
    def _search(self) -> Input:
        return self.query_one("#help-search", Input)

    def _draw(self, wanted: str) -> None:
        self.query_one(Lines).show(help_lines(first=self._first, actions=self._host.actions, wanted=wanted))


def help_lines(
    *, first: Where = Where.EVERYWHERE, actions: tuple[Action, ...] = ACTIONS, wanted: str = ""
) -> tuple[Line, ...]:
    """The help, line by line; the keys of the screen below come first.

    `wanted` filters for lines that contain these letters, also in the name on the key bar.
    """
    sought = wanted.casefold().split()
    lines: list[Line] = []
    nearest = sorted(actions, key=lambda action: (action.where is not first, action.where is not Where.EVERYWHERE))
    for (where, group), members in groupby(nearest, key=lambda action: (action.where, action.group)):
        found = [shown for one in members if _has(shown := _line(one), sought, also=one.label)]
        if found:
            lines += [line(strong(group), muted(f"  {where}")), *found, ()]
    words = [line(Span(f"  {word:<{_KEYS_WIDTH}}", Tone.LINK), meaning) for word, meaning in _CONCEPTS]
    if found := [one for one in words if _has(one, sought)]:
        lines += [line(strong("Words")), *found]
    return tuple(lines) or (line(muted("no match; esc shows all")),)


def _has(one: Line, sought: list[str], *, also: str = "") -> bool:
    text = f"{plain_text((one,))} {also}".casefold()
    return all(word in text for word in sought)


def _line(action: Action) -> Line:
    return line(Span(f"  {shown_keys(action):<{_KEYS_WIDTH}}", Tone.LINK), action.help)
