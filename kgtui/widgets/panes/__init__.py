"""The tabs of the workbench: one module each, found by scanning.

A pane module defines `ORDER` (its place among the tabs), `TITLE` (the title of its tab) and `make()`, which makes the
pane for one workbench.  Its name is the id of the tab: the action that shows it calls `screen.tab('<id>')`.  A module
that lacks one of the names is rejected when the panes are listed.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError

if TYPE_CHECKING:
    from kgtui.widgets.panes.base.pane import Pane

_SHARED = "base"  # the package shared by the panes
_REQUIRED = ("ORDER", "TITLE", "make")


class PaneModule(Protocol):
    """Interface of every pane module."""

    __name__: str
    ORDER: int
    TITLE: str

    def make(self) -> Pane:
        """The pane, made once for each workbench."""
        ...


def pane_modules() -> dict[str, PaneModule]:
    """Every pane module by the id of its tab, in the order of the tabs.

    Raises:
        EngineError: a module here does not define what a pane must define.
    """
    found: dict[str, PaneModule] = {}
    for entry in pkgutil.iter_modules(__path__):
        if entry.name != _SHARED:
            found[entry.name] = _checked(f"{__name__}.{entry.name}")
    return dict(sorted(found.items(), key=lambda item: (item[1].ORDER, item[0])))


def _checked(name: str) -> PaneModule:
    module = importlib.import_module(name)
    missing = [required for required in _REQUIRED if not hasattr(module, required)]
    if missing:
        raise EngineError(f"{name.replace('.', '/')}.py does not define {', '.join(missing)}")
    found: PaneModule = module
    return found
