"""Every key, made from the list of actions; a screen that explains, and changes nothing."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from kgtui.keys import ACTIONS, Action, Where, shown_keys
from kgtui.screens import Place
from kgtui.screens.base import KgtuiScreen
from kgtui.screens.host import Host
from kgtui.state.lines import Line, Span, Tone, line, muted, strong
from kgtui.widgets.toned import Lines

PLACE = Place.OVER

_CONCEPTS = (
    ("problem", "an operator with its cases, reference, tolerance and cost"),
    ("candidate", "the text of your file, known by its hash"),
    ("run", "one judging of one candidate; each has a number and is kept"),
    ("stale", "a result of an earlier text, shown until the new one is there"),
    ("baseline", "what the candidate is timed against, in the same run: eager, compile, cublas, vllm"),
    ("roofline", "the least time that this device needs for the bytes and operations of a case"),
    ("A/A", "the candidate timed against itself: a smaller difference is no difference"),
    ("flagged", "right, but not credible: the finding says why"),
)


def make(host: Host) -> HelpScreen:
    """The help; the screen under it says what stands first."""
    return HelpScreen()


class HelpScreen(ModalScreen[None]):
    """Closes with esc, q, ? or F1."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "app.pop_screen", show=False),
        Binding("j", "scroll('down')", show=False),
        Binding("k", "scroll('up')", show=False),
    ]

    def compose(self) -> ComposeResult:
        """The keys by group, then the words of the screen."""
        with VerticalScroll(id="help"):
            yield Lines(id="help-text")

    def on_screen_resume(self) -> None:
        """Begin with the keys of the screen that it was asked on."""
        below = self.app.screen_stack[-2]
        first = below.WHERE if isinstance(below, KgtuiScreen) else Where.EVERYWHERE
        self.query_one(Lines).show(help_lines(first=first))
        self.query_one("#help").scroll_home(animate=False)
        self.query_one("#help").focus()

    async def action_scroll(self, direction: str) -> None:
        """Scroll by a line."""
        await self.query_one("#help").run_action(f"scroll_{direction}")


def help_lines(*, first: Where = Where.EVERYWHERE) -> tuple[Line, ...]:
    """The help, line by line; the keys of the screen that it was asked on stand first."""
    lines: list[Line] = []
    nearest = sorted(ACTIONS, key=lambda action: (action.where is not first, action.where is not Where.EVERYWHERE))
    for (where, group), actions in groupby(nearest, key=lambda action: (action.where, action.group)):
        lines.append(line(strong(group), muted(f"  {where}")))
        lines += [_line(action) for action in actions]
        lines.append(())
    lines.append(line(strong("Words")))
    lines += [line(Span(f"  {word:<16}", Tone.LINK), meaning) for word, meaning in _CONCEPTS]
    return tuple(lines)


def _line(action: Action) -> Line:
    return line(Span(f"  {shown_keys(action):<16}", Tone.LINK), action.help)
