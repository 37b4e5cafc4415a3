"""Settings and bindings by their name on the command line, and changing the settings file."""

from __future__ import annotations

import difflib

from engine.errors import UsageError
from kgtui.settings.file_write import write_config
from kgtui.settings.preferences import INSTEAD, Preferences
from kgtui.settings.schema import KEYS_TABLE, OPTION_BY_KEY, Config

BINDING = f"{KEYS_TABLE}."


def require_known(name: str) -> str:
    """The name of a setting or of a binding.

    Raises:
        UsageError: there is none of that name.
    """
    if name in OPTION_BY_KEY:
        return name
    known = [*OPTION_BY_KEY]
    if name.startswith(BINDING):
        from kgtui.settings.keys import ACTIONS, binding_id

        known = [f"{BINDING}{binding_id(action)}" for action in ACTIONS]
        if name in known:
            return name
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"settings are {', '.join(OPTION_BY_KEY)}, and {BINDING}BINDING"
    raise UsageError(f"no such setting: {name!r}; {hint}")


def write_changed(after: Config, *, before: Preferences) -> None:
    """Write the file, unless that would introduce an error.

    Raises:
        UsageError: the value is invalid, or the file cannot be written.
    """
    known = {*before.problems, *_key_problems(before.config)}
    new = [words for words in (*before.under(after).problems, *_key_problems(after)) if words not in known]
    if new:
        raise UsageError(f"{new[0].removeprefix(f'{after.path}, ').removesuffix(INSTEAD)}; nothing was changed")
    write_config(after)


def _key_problems(config: Config) -> tuple[str, ...]:
    if not config.settings.keys:
        return ()
    from kgtui.settings.keymap import keymap_of

    return keymap_of(config.settings.keys, file=str(config.path)).problems
