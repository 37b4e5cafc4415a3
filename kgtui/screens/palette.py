"""The palette: every action of the screen in front, found by its words."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kgtui.keys import Action, Where, actions_of, shown_keys
from kgtui.screens.base import KgtuiScreen


class Actions(Provider):
    """Offers the same list that the bindings and the help are made from."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self._actions():
            words, run = _words(action), partial(self.screen.run_action, action.call)
            yield DiscoveryHit(Content(words), run, text=words, help=action.help)

    async def search(self, query: str) -> Hits:
        """Those whose words match, best first."""
        matcher = self.matcher(query)
        for action in self._actions():
            score = max(matcher.match(_words(action)), matcher.match(action.help))
            if score > 0:
                run = partial(self.screen.run_action, action.call)
                yield Hit(score, matcher.highlight(_words(action)), run, help=action.help)

    def _actions(self) -> tuple[Action, ...]:
        screen = self.screen
        here = actions_of(screen.WHERE) if isinstance(screen, KgtuiScreen) else ()
        return tuple(action for action in (*here, *actions_of(Where.EVERYWHERE)) if action.listed)


def _words(action: Action) -> str:
    return f"{action.label}  ({shown_keys(action)})"
