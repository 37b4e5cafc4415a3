"""The palette: every action there is, found by its words; those of the screen in front are first.

An action of another screen brings that screen to the front and is done there, or the screen says what it lacks.
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
    """Offers the same list that the bindings and the help are made from."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
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
        return cast(Host, self.app)  # Textual types the app as any App; ours keeps to the protocol

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

    def _run(self, action: Action) -> Callable[[], Coroutine[Any, Any, Any]]:  # what Textual calls a command
        if action.where in self._near or action.call.startswith("app."):
            return partial(self.screen.run_action, action.call)
        return partial(_run_there, self._host, action)


async def _run_there(host: Host, action: Action) -> None:
    """Bring the action's screen to the front and do it there; nothing more where that screen cannot be shown."""
    host.action_show(action.where.value)
    screen = host.front
    if getattr(screen, "WHERE", None) is action.where:
        await screen.run_action(action.call)
