"""The user's own keys: which can be, and what is said of those that cannot."""

from __future__ import annotations

import string

import pytest
from textual.keys import _character_to_key

from kgtui.settings.keymap import key_name, keymap_of
from kgtui.settings.keys import ACTIONS, binding_id, first_key


@pytest.mark.parametrize(
    ("asked", "bindings"),
    [
        ({"workbench.run": ("f11", "ctrl+l")}, {"workbench.run": "f11,ctrl+l"}),
        (
            {"workbench.run": ("?",), "everywhere.help": ("f1",)},
            {"workbench.run": "question_mark", "everywhere.help": "f1"},
        ),
        ({"workbench.run": ("f",), "workbench.failed": ("r",)}, {"workbench.run": "f", "workbench.failed": "r"}),
        ({"bench.axis": ("t",)}, {"bench.axis": "t"}),
        ({"workbench.save": ("ctrl+t", "f11")}, {"workbench.save": "ctrl+t,f11"}),
        ({"workbench.run": ("ctrl+/",)}, {"workbench.run": "ctrl+slash"}),
        ({"workbench.run": ("f11", "ctrl+t", "f11")}, {"workbench.run": "f11,ctrl+t"}),
    ],
)
def test_valid_key_is_bound(asked: dict[str, tuple[str, ...]], bindings: dict[str, str]) -> None:
    keymap = keymap_of(asked, file="config.toml")
    assert (keymap.bindings, keymap.problems) == (bindings, ())


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"workbench.rum": ("f11",)}, "keys.workbench.rum: unknown binding; did you mean workbench.run?"),
        ({"zzz": ("f11",)}, "keys.zzz: unknown binding; `kgtui manual keys` lists the ids"),
        ({"workbench.run": ("foo+x",)}, "keys.workbench.run: unknown key 'foo+x'; use a character, "
                                        '"f11", "ctrl+t", "shift+tab", "enter", "pagedown"'),
        ({"workbench.run": ("ctrl+i",)}, "keys.workbench.run: most terminals send tab for ctrl+i; choose another key"),
        ({"workbench.run": ("ctrl+[",)}, "keys.workbench.run: most terminals send escape for ctrl+[; "
                                         "choose another key"),
        ({"workbench.run": ("f6",)}, "keys.workbench.run: f6 is used by the source pane; "
                                     "choose another key"),
        ({"workbench.save": ("s",)}, "keys.workbench.save: 's' could no longer be typed as text, since this works "
                                     "while text is typed; use ctrl+ or an F key"),
        ({"everywhere.quit": ("space",)}, "keys.everywhere.quit: 'space' could no longer be typed as text, since "
                                          "this works while text is typed; use ctrl+ or an F key"),
        ({"workbench.run": ("f",)}, "keys.workbench.run: f would be both workbench.run and workbench.failed; "
                                    "change one of them"),
        ({"everywhere.help": ("f5",)}, "keys.everywhere.help: f5 would be both everywhere.help and workbench.run; "
                                       "change one of them"),
        ({"workbench.run": ("f11",), "workbench.zoom": ("f11",)},
         "keys.workbench.zoom: f11 would be both workbench.run and workbench.zoom; change one of them"),
    ],
)  # fmt: skip
def test_invalid_key_is_reported_and_default_stays(asked: dict[str, tuple[str, ...]], problem: str) -> None:
    keymap = keymap_of(asked, file="config.toml")
    assert keymap.problems == (f"config.toml, {problem}",)
    assert keymap.actions == ACTIONS


def test_same_key_may_differ_between_screens() -> None:
    keymap = keymap_of({"workbench.run": ("f11",), "bench.axis": ("f11",)}, file="config.toml")
    assert keymap.problems == ()


def test_the_actions_have_the_new_keys() -> None:
    actions = keymap_of({"workbench.run": ("f11",)}, file="config.toml").actions
    assert [first_key(action) for action in actions if binding_id(action) == "workbench.run"] == ["F11"]


def test_key_names_match_textual() -> None:
    assert [sign for sign in string.punctuation if key_name(sign) != _character_to_key(sign)] == []
