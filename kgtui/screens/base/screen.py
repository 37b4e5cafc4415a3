"""The base class of screens: size classes, the banner, the key bar, hjkl, and notifications of the application."""

from __future__ import annotations

from abc import abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.widget import Widget
from textual.widgets import DataTable

from kgtui.screens.base.actions import forward_actions
from kgtui.screens.base.host import Host
from kgtui.screens.base.screenshots import SavableScreen
from kgtui.settings.keys import Where, actions_of, first_key, key_while_typing
from kgtui.state.format.lines import Span, Tone, line, muted
from kgtui.widgets.controls.bars import Bar, Segment
from kgtui.widgets.controls.too_small import LEAST_HEIGHT, LEAST_WIDTH
from kgtui.widgets.text.toned import Lines

if TYPE_CHECKING:
    from collections.abc import Mapping

_USUAL_LABELS: Mapping[str, str] = MappingProxyType({})
_MOVES = {
    "left": ("cursor_left", "scroll_left"),
    "down": ("cursor_down", "scroll_down"),
    "up": ("cursor_up", "scroll_up"),
    "right": ("cursor_right", "scroll_right"),
    "top": ("scroll_home",),
    "bottom": ("scroll_end",),
}


class KgtuiScreen(SavableScreen):
    """A screen with its host and its size class.

    Abstract members are checked only by mypy, since Textual's metaclass is not derived from `abc`.
    """

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  # Textual declares it as it is
        (0, "-tiny-width"),
        (LEAST_WIDTH, "-narrow"),
        (100, "-medium"),
        (160, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012  # as above
        (0, "-tiny-height"),
        (LEAST_HEIGHT, "-low"),
        (22, "-short"),
        (32, "-tall"),
    ]
    WHERE: ClassVar[Where]
    CONTROLLERS: ClassVar[Mapping[str, type[object]]] = {}
    """The class of each controller by its attribute; their actions are actions of the screen."""

    _shown_keys: tuple[frozenset[str] | None, bool, Mapping[str, str]] | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:  # Any: those of Textual
        super().__init_subclass__(**arguments)
        forward_actions(cls, vars(cls).get("CONTROLLERS", {}))

    @property
    def host(self) -> Host:
        """The application."""
        return cast(Host, self.app)  # Textual types the app as any App; this one implements the protocol

    @property
    def is_drawable(self) -> bool:
        """Whether it can be drawn: not before it is mounted or while the application exits."""
        return self.is_mounted and self.app.is_running

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal is below the least size, so that only a message is shown."""
        return self.has_class("-tiny-width") or self.has_class("-tiny-height")

    @abstractmethod
    def draw(self) -> None:
        """Draw what has changed."""

    def on_screen_resume(self) -> None:
        """Draw what changed while another screen was in front."""
        if self.is_mounted:
            if self._shown_keys is not None:
                only, typing, labels = self._shown_keys
                self.show_keys(only, typing=typing, labels=labels)
            self.host_changed()

    def host_changed(self) -> None:
        """Redraw after a change of the catalogue, the lists from the store, or an error of engine or store."""
        self.draw()

    def workbench_changed(self) -> None:
        """React to a redraw of the workbench below; most screens show nothing of it."""

    @property
    def waits(self) -> bool:
        """Whether elapsed time is shown without a run."""
        return False

    def go_on(self) -> bool:
        """Update visible elapsed times; returns whether they change without a run."""
        if self.is_drawable:
            self.tick()
        return self.waits

    def tick(self) -> None:
        """Update elapsed times."""

    def action_close(self) -> None:
        """Return to the screen below this one."""
        self.app.pop_screen()

    def show_trouble(self) -> None:
        """Show a problem of the engine or the store, or remove it."""
        banner = self.query_one("#banner", Lines)
        banner.display = bool(self.host.trouble)
        banner.show((line(Span(self.host.trouble, Tone.WARN)),))

    def show_keys(
        self, only: frozenset[str] | None = None, *, typing: bool = False, labels: Mapping[str, str] = _USUAL_LABELS
    ) -> None:
        """Fill the key bar; `only` names the available actions, and `typing` says whether letters are text.

        `labels` replaces the labels of actions that have another effect now, by their ids.
        """
        self._shown_keys = (only, typing, labels)
        key_of = key_while_typing if typing else first_key
        actions = [
            action
            for where in (self.WHERE, Where.EVERYWHERE)
            for action in actions_of(where, self.host.actions)
            if (action.bar if only is None else action.id in only)
        ]
        self.query_one("#keys", Bar).show(
            tuple(
                Segment(
                    key=action.call,
                    keep=action.keep,
                    line=line(Span(key_of(action), Tone.STRONG), muted(f" {labels.get(action.id, action.label)}")),
                )
                for action in actions
            )
        )

    def show_keys_but(self, idle: Mapping[str, bool], *, labels: Mapping[str, str] = _USUAL_LABELS) -> None:
        """Fill the key bar except for actions without effect: `idle` maps action ids to whether they have none."""
        here = (self.WHERE, Where.EVERYWHERE)
        offered = (action.id for action in self.host.actions if action.bar and action.where in here)
        self.show_keys(frozenset(name for name in offered if not idle.get(name, False)), labels=labels)

    async def on_bar_chosen(self, message: Bar.Chosen) -> None:
        """Run the action of a clicked key of the key bar."""
        if message.bar.id == "keys":
            message.stop()
            await self.run_action(message.key)

    async def action_move(self, direction: str) -> None:
        """Move the cursor or scroll the focused pane."""
        focused = self.focused
        if focused is None:
            return
        if isinstance(focused, DataTable) and direction in ("top", "bottom"):
            focused.move_cursor(row=0 if direction == "top" else focused.row_count - 1)
            return
        for name in _MOVES[direction]:
            if _has_action(focused, name):
                await focused.run_action(name)
                return

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        """Textual calls this, which has no public name, when the focused widget is hidden.

        A terminal that is too small hides all widgets; the focused one must have the focus once it is enlarged.
        """
        if not self.is_too_small:
            super()._reset_focus(widget, avoiding)

    def copy_text(self, text: str) -> None:
        """Put the text on the terminal's clipboard, and report its size."""
        if not text:
            self.notify("nothing to copy here", markup=False)
            return
        self.app.copy_to_clipboard(text)
        lines = text.count("\n") + 1
        self.notify(f"copied {f'{lines} lines' if lines > 1 else text[:60]}", markup=False)


def _has_action(widget: Widget, name: str) -> bool:
    return hasattr(widget, f"action_{name}")
