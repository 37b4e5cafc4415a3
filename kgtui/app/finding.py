"""An operator by its name, or a message that says why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from engine.errors import KgtuiError

if TYPE_CHECKING:
    from engine.model import Problem
    from kgtui.ports.protocols import Problems


def found_or_shown(problems: Problems, app: App[None], name: str) -> Problem | None:
    """The operator called `name`; None when there is none or its file is broken, which the app shows."""
    try:
        return problems.find(name)
    except KgtuiError as error:
        app.notify(str(error), severity="error", markup=False)
        return None
