"""The list of actions: complete, without clashes, and the only source of bindings, help and palette."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.screen import Screen

from kgtui.app.application import WorkbenchApp
from kgtui.screens import screen_ids, screen_module
from kgtui.screens.help.screen import help_lines
from kgtui.settings.keys import ACTIONS, Where, actions_of, bindings_of, key_table_markdown, shown_key
from kgtui.state.format.lines import plain_text

_AVOIDED = {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+left_square_bracket", "ctrl+b", "ctrl+a"}


@pytest.mark.parametrize("where", [where for where in Where if where not in (Where.EVERYWHERE, Where.HELP)])
def test_no_key_is_ambiguous_on_one_screen(where: Where) -> None:
    keys = Counter(key for action in (*actions_of(where), *actions_of(Where.EVERYWHERE)) for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_binding_has_an_id_of_its_own() -> None:
    ids = [binding.id for where in Where for binding in bindings_of(where)]
    assert len(ids) == len(set(ids)) == len(ACTIONS)


def test_help_starts_with_keys_of_current_screen() -> None:
    assert plain_text(help_lines(first=Where.WORKBENCH)).startswith("Loop  workbench\n")
    assert plain_text(help_lines(first=Where.OPERATORS)).startswith("List  operators\n")


def screen_classes() -> list[Any]:
    """The class of every screen that has keys of its own."""
    return [
        found
        for module in map(screen_module, screen_ids())
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Screen) and found.__module__ == module.__name__
    ]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.where}.{action.id}")
def test_every_action_is_callable_where_offered(action) -> None:  # type: ignore[no-untyped-def]
    name = action.call.partition("(")[0]
    owner, _, method = name.partition(".")
    here = [screen for screen in screen_classes() if action.where in (screen.WHERE, Where.EVERYWHERE)]
    owners = here if owner == "screen" else [WorkbenchApp]
    assert owners
    assert all(callable(getattr(one, f"action_{method}", None)) for one in owners)


def test_keys_used_by_terminals_are_avoided() -> None:
    used = {key for action in ACTIONS for key in action.keys}
    assert used & _AVOIDED == set()
    assert not any(key.startswith("alt+") for key in used)


def test_every_function_key_has_a_second_key() -> None:
    alone = [action.id for action in ACTIONS if all(key[0] == "f" and key[1:].isdigit() for key in action.keys)]
    assert alone == []


def test_the_help_names_every_action() -> None:
    shown = plain_text(help_lines())
    assert [action.help for action in ACTIONS if action.help not in shown] == []


def test_key_table_has_row_for_every_action() -> None:
    lines = key_table_markdown().splitlines()
    assert lines[:2] == ["| key | action | binding |", "|---|---|---|"]
    assert len(lines) == 2 + len(ACTIONS)
    assert "| `r` `F5` | run the saved file again, all cases | `workbench.run` |" in lines


@pytest.mark.parametrize(
    ("key", "shown"),
    [("f5", "F5"), ("f", "f"), ("5", "5"), ("question_mark", "?"), ("ctrl+t", "ctrl+t"), ("left", "left")],
)
def test_key_is_shown_as_on_the_keyboard(key: str, shown: str) -> None:
    assert shown_key(key) == shown
