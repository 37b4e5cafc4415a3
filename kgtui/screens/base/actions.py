"""Forwards actions of a screen to its controllers: each `action_*` of a controller becomes one of the screen.

Textual looks for an action on the screen only.  Controllers are plain objects with one job each, so the screen
forwards; this is done once, when the class of the screen is made.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX = "action_"


def forward_actions(screen: type[object], controllers: Mapping[str, type[object]]) -> None:
    """Add the actions of its controllers, which it stores under these names, to the class of a screen.

    Raises:
        EngineError: two of them, or one and the screen itself, define the same action.
    """
    owner = {name: screen for name in vars(screen) if name.startswith(PREFIX)}
    for attribute, controller in controllers.items():
        for name, method in vars(controller).items():
            if not name.startswith(PREFIX):
                continue
            if name in owner:
                raise EngineError(
                    f"{screen.__name__}: {owner[name].__name__} and {controller.__name__} both define {name}"
                )
            owner[name] = controller
            setattr(screen, name, _forwarded(attribute, method))


def _forwarded(attribute: str, method: Callable[..., Any]) -> Callable[..., Any]:  # Any: whatever the action takes
    """The action `method` of the object that a screen stores as `attribute`."""

    @functools.wraps(method)  # Textual passes as many parameters as the signature has
    def forwarded(screen: object, *parameters: Any) -> Any:
        return method(getattr(screen, attribute), *parameters)

    return forwarded
