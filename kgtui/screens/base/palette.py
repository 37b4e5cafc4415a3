"""The palette: every action, searchable by its text; those of the current screen come first.
An action of another screen shows that screen and runs there, or the screen reports what it lacks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Action, Where, shown_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Actions(Provider):
    """Provider of the list of actions, the same as in bindings and help."""

    async def discover(self) -> Hits:
        """All actions, before anything is typed."""
        for action in self._actions():
            words = self._words(action)
            yield DiscoveryHit(Content(words), self._run(action), text=words, help=action.help)

    async def search(self, query: str) -> Hits:
        """Entries whose words match, best first."""
        matcher = self.matcher(query)
        for action in self._actions():
            words = self._words(action)
            # A match in the name of an action outranks a match in the help text of another.
            score = max(matcher.match(words), matcher.match(action.help) * 0.4)
            if score > 0:
                here = 1.0 if action.where in self._near else 0.5
                yield Hit(score * here, matcher.highlight(words), self._run(action), help=action.help)

    @property
    def _host(self) -> Host:
        return cast(Host, self.app)  # Textual types the app as any App; this one implements the protocol

    @property
    def _near(self) -> tuple[Where, ...]:
        screen = self.screen
        return (screen.WHERE, Where.EVERYWHERE) if isinstance(screen, KgtuiScreen) else (Where.EVERYWHERE,)

    def _actions(self) -> tuple[Action, ...]:
        near = self._near
        listed = [action for action in self._host.actions if action.listed]
        return tuple(sorted(listed, key=lambda one: near.index(one.where) if one.where in near else len(near)))

    def _words(self, action: Action) -> str:
        where = "" if action.where in self._near else f"  on {action.where}"
        return f"{action.label}  ({shown_keys(action)}){where}"

    def _run(self, action: Action) -> Callable[[], Coroutine[Any, Any, Any]]:  # Textual's name for a palette action
        if action.where in self._near or action.call.startswith("app."):
            return partial(self.screen.run_action, action.call)
        return partial(_run_there, self._host, action)


async def _run_there(host: Host, action: Action) -> None:
    """Show the action's screen and run the action there, unless that screen cannot be shown."""
    host.action_show(action.where.value)
    screen = host.front
    if getattr(screen, "WHERE", None) is action.where:
        await screen.run_action(action.call)
