"""Bindings, names of keys, and the key table of the manual, all made from the list of actions."""

from __future__ import annotations

from textual.binding import Binding
from textual.keys import key_to_character

from kgtui.settings.action import Action as Action
from kgtui.settings.action import Where as Where
from kgtui.settings.actions import ACTIONS as ACTIONS

_NAMES = {
    "escape": "esc",
    "slash": "/",
    "backslash": "\\",
    "at": "@",
    "minus": "-",
    "plus": "+",
    "underscore": "_",
}


def actions_of(where: Where, actions: tuple[Action, ...] = ACTIONS) -> tuple[Action, ...]:
    """The actions of one screen, in order, out of those with the user's keys."""
    return tuple(action for action in actions if action.where is where)


def binding_id(action: Action) -> str:
    """Name of an action's binding in the settings file: "workbench.run"."""
    return f"{action.where.value}.{action.id}"


def bindings_of(where: Where) -> list[Binding]:
    """The bindings of one screen, with their default keys."""
    return [
        Binding(
            ",".join(action.keys),
            action.call,
            action.label,
            show=False,
            priority=action.priority,
            id=binding_id(action),
        )
        for action in actions_of(where)
    ]


def shown_key(key: str) -> str:
    """Readable name of a key: "?" for question_mark, "F5" for f5."""
    if key[0] == "f" and key[1:].isdigit():
        return key.upper()
    before, plus, last = key.rpartition("+")
    character = key_to_character(last) or ""
    return f"{before}{plus}{_NAMES.get(last) or (character if character.strip() and character.isprintable() else last)}"


def shown_keys(action: Action) -> str:
    """Readable names of the keys of an action."""
    return " ".join(map(shown_key, action.keys))


def first_key(action: Action) -> str:
    """Readable name of the first key of an action."""
    return shown_key(action.keys[0])


def key_while_typing(action: Action) -> str:
    """Readable name of the first key of an action that types no character."""
    keys = (key for key in action.keys if key == "escape" or key.startswith("ctrl+") or key[1:].isdigit())
    return shown_key(next(keys, action.keys[0]))


def key_table_markdown() -> str:
    """The table of keys in the manual, each with its id in the settings file."""
    lines = ["| key | action | binding |", "|---|---|---|"]
    for action in ACTIONS:
        keys = " ".join(f"`{shown_key(key)}`" for key in action.keys)
        lines.append(f"| {keys} | {action.help} | `{binding_id(action)}` |")
    return "\n".join(lines) + "\n"
