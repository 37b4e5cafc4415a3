"""The screens: one module, or one package with a `screen.py`, each; found by scanning, imported when first shown.

A screen module defines `PLACE` (whether it replaces the screen in front or covers it) and `make(host)`, which makes it
for this application or raises `UsageError` with the next step.  Its name is its id: the action of `kgtui.settings.keys`
that opens it calls `app.show('<id>')`.  A module that lacks one of the names is rejected when it is found.  Listing the
ids imports none of them.
"""

from __future__ import annotations

import enum
import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError

if TYPE_CHECKING:
    from textual.screen import Screen

    from kgtui.screens.base.host import Host

_SHARED = "base"  # the package shared by the screens
_REQUIRED = ("PLACE", "make")


class Place(enum.Enum):
    """Position of a screen: in place of the others, or on top of them."""

    GROUND = "ground"
    """In place of all other screens."""
    OVER = "over"
    """On top of the current screen, which returns when this one is closed."""


class ScreenModule(Protocol):
    """Interface of every screen module."""

    __name__: str
    PLACE: Place

    def make(self, host: Host) -> Screen[None]:
        """The screen, made once for each application and kept.

        Raises:
            UsageError: there is nothing to show yet; the message says what to do first.
        """
        ...


def screen_ids(*, package: str = __name__) -> tuple[str, ...]:
    """The ids of all screens, in alphabetical order."""
    return tuple(sorted(_module_by_id(package)))


def screen_module(screen_id: str, *, package: str = __name__) -> ScreenModule:
    """The screen called `screen_id`, imported on first use.

    Raises:
        EngineError: there is none, or its file does not define what a screen must define.
    """
    known = _module_by_id(package)
    if screen_id not in known:
        raise EngineError(f"unknown screen {screen_id!r}: {package.replace('.', '/')} has {', '.join(sorted(known))}")
    module = importlib.import_module(known[screen_id])
    missing = [name for name in _REQUIRED if not hasattr(module, name)]
    file = f"{known[screen_id].replace('.', '/')}.py"
    if missing:
        raise EngineError(f"{file} does not define {', '.join(missing)}")
    if not isinstance(module.PLACE, Place):
        raise EngineError(f"{file}: PLACE should be Place.GROUND or Place.OVER, is {module.PLACE!r}")
    found: ScreenModule = module
    return found


def _module_by_id(package: str) -> dict[str, str]:
    """The module of every screen by its id."""
    entries = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return {
        entry.name: f"{package}.{entry.name}.screen" if entry.ispkg else f"{package}.{entry.name}"
        for entry in entries
        if entry.name != _SHARED
    }
