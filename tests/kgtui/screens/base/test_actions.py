"""Actions that a screen has from its controllers."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from kgtui.screens.base.actions import forward_actions


class Counter:
    """A controller with one action and one helper."""

    def __init__(self) -> None:
        self.total = 0

    def action_add(self, step: int) -> None:
        """Add to the total."""
        self.total += step

    def helper(self) -> None:
        """Not an action."""


class Other:
    """A controller with the same action."""

    def action_add(self, step: int) -> None:
        """Add somewhere else."""


def test_action_of_controller_is_called_on_screen() -> None:
    class Screen:
        def __init__(self) -> None:
            self.counter = Counter()

    forward_actions(Screen, {"counter": Counter})
    screen = Screen()
    screen.action_add(3)  # type: ignore[attr-defined]
    assert (screen.counter.total, hasattr(screen, "helper")) == (3, False)


def test_two_controllers_with_the_same_action_are_refused() -> None:
    class Screen:
        pass

    with pytest.raises(EngineError, match="Screen: Counter and Other both define action_add"):
        forward_actions(Screen, {"counter": Counter, "other": Other})


def test_action_in_screen_and_controller_is_refused() -> None:
    class Screen:
        def action_add(self, step: int) -> None:
            """Its own."""

    with pytest.raises(EngineError, match="Screen: Screen and Counter both define action_add"):
        forward_actions(Screen, {"counter": Counter})
