"""One action of the screen: the record that `kgtui.settings.actions` lists, and the screens of actions."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Where(enum.StrEnum):
    """The screen that an action belongs to."""

    EVERYWHERE = "everywhere"
    OPERATORS = "operators"
    WORKBENCH = "workbench"
    BENCH = "bench"
    HISTORY = "history"
    TARGETS = "targets"
    DIFFERENCES = "differences"
    INSPECT = "inspect"
    CASE = "case"
    TUNE = "tune"
    SETTINGS = "settings"
    DOCTOR = "doctor"
    HELP = "help"
    MANUAL = "manual"
    COMPARE = "compare"
    MODELS = "models"
    BATCH = "batch"


@dataclass(frozen=True, kw_only=True)
class Action:
    """One action of the user.
    `call` is the screen's method; `bar` is its label on the key bar; with `priority` it gets the key before the focused
    widget, also while text is typed.  A bar without room for all drops actions with the lowest `keep` first, of equal
    ones the last.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str
    where: Where
    call: str
    bar: bool = False
    priority: bool = False
    listed: bool = True
    keep: int = 1
