"""The user's own keys: the valid ones, errors of the others, and all actions with their keys.
The bindings, the key bar, the help and the palette use the resulting actions.  An invalid entry is reported and left
out; its action keeps its default keys.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from kgtui.settings.keys import ACTIONS, Action, Where, binding_id
from kgtui.settings.schema import KEYS_TABLE

_NAMED = frozenset(key.value for key in Keys if key.value.isalnum())
_MODIFIED = re.compile(r"^(?:(?:ctrl|shift|alt|super|meta|hyper)\+)+")
# Most terminals send the other key for these.
_SAME = {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+left_square_bracket": "escape"}


@dataclass(frozen=True, kw_only=True)
class Keymap:
    """Every action with its keys, the changed ones, and errors."""

    actions: tuple[Action, ...] = ACTIONS
    changed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def bindings(self) -> dict[str, str]:
        """The changed bindings in Textual's form."""
        return {binding_id(one): ",".join(one.keys) for one in self.actions if binding_id(one) in self.changed}


def keymap_of(keys_by_binding: Mapping[str, tuple[str, ...]], *, file: str) -> Keymap:
    """The keys that `keys_by_binding` has; an error names `file`, the key and the ids."""
    known = {binding_id(action): action for action in ACTIONS}
    problems: list[str] = []
    wanted: dict[str, tuple[str, ...]] = {}
    for name, keys in keys_by_binding.items():
        place = f"{file}, {KEYS_TABLE}.{name}"
        if name not in known:
            problems.append(f"{place}: unknown binding; {_near(name, tuple(known))}")
            continue
        wrong = [words for key in keys if (words := _wrong(key, known[name]))]
        problems += [f"{place}: {words}" for words in wrong]
        if not wrong:
            wanted[name] = tuple(dict.fromkeys(map(key_name, keys)))
    while clash := _clash(_with(wanted), among=wanted):
        key, one, other = clash
        taken = [name for name in (one, other) if name in wanted]
        words = f"{key} would be both {one} and {other}; change one of them"
        problems.append(f"{file}, {KEYS_TABLE}.{taken[-1]}: {words}")
        for name in taken:
            del wanted[name]
    return Keymap(actions=_with(wanted), changed=tuple(wanted), problems=tuple(problems))


def key_name(key: str) -> str:
    """Textual's name of a key: "question_mark" for "?", "ctrl+slash" for "ctrl+/"."""
    found = _MODIFIED.match(key)
    before, last = (found.group(), key[found.end() :]) if found else ("", key)
    if len(last) == 1 and not last.isalnum():
        name = unicodedata.name(last, last).lower().replace("-", "_").replace(" ", "_")
        last = KEY_NAME_REPLACEMENTS.get(name, name)
    return f"{before}{last}"


def types_text(key: str) -> bool:
    """Whether the key types a character in text."""
    return key == "space" or (not _MODIFIED.match(key) and key not in _NAMED)


def _wrong(key: str, action: Action) -> str:
    name = key_name(key)
    last = _MODIFIED.sub("", name, count=1)
    if not (len(last) == 1 or last in _NAMED or last in KEY_NAME_REPLACEMENTS.values() or key_to_character(last)):
        return f'unknown key {key!r}; use a character, "f11", "ctrl+t", "shift+tab", "enter", "pagedown"'
    if name in _SAME:
        return f"most terminals send {_SAME[name]} for {key}; choose another key"
    is_taken = name in _of_the_source() and name not in action.keys
    if not action.priority and action.where in (Where.WORKBENCH, Where.EVERYWHERE) and is_taken:
        return f"{key} is used by the source pane; choose another key"
    if action.priority and types_text(name):
        return f"{key!r} could no longer be typed as text, since this works while text is typed; use ctrl+ or an F key"
    return ""


@cache
def _of_the_source() -> frozenset[str]:
    """The keys that the source pane handles itself while it has the focus."""
    from textual.widgets import TextArea  # imported late, only for users with their own keys, since it is slow

    bindings = (one for one in TextArea.BINDINGS if isinstance(one, Binding))
    return frozenset(key.strip() for one in bindings for key in one.key.split(","))


def _with(wanted: Mapping[str, tuple[str, ...]]) -> tuple[Action, ...]:
    return tuple(
        replace(action, keys=wanted[binding_id(action)]) if binding_id(action) in wanted else action
        for action in ACTIONS
    )


def _clash(actions: tuple[Action, ...], *, among: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """A key bound twice on one screen, at least once by the user, with the ids of both actions."""
    for where in Where:
        seen: dict[str, str] = {}
        here = (where,) if where is Where.HELP else (where, Where.EVERYWHERE)
        for action in actions:
            if action.where not in here:
                continue
            for key in action.keys:
                other = seen.setdefault(key, binding_id(action))
                if other != binding_id(action) and (other in among or binding_id(action) in among):
                    return key, other, binding_id(action)
    return None


def _near(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else "`kgtui manual keys` lists the ids"
