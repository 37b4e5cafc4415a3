"""Changing the text of a settings file by as little as possible: a line is replaced or put in, comments stay.

Pure functions; the result is read again before anybody writes it, so that a file whose layout is not understood here
is refused, never damaged.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from engine.errors import UsageError
from kgtui.settings.schema import KEYS_TABLE, OPTION_BY_KEY, Config, Value, parse_config, toml

_HEADER = re.compile(r"^\s*\[")
_BINDING = f"{KEYS_TABLE}."

Change = Value | tuple[str, ...]


def edited(config: Config, changes: Mapping[str, Change]) -> Config:
    """The file as it would be with `changes`: settings by key, bindings as "keys.workbench.run".

    Raises:
        UsageError: the text has a layout that cannot be changed line by line; says what to write by hand.
    """
    text = config.text or ""
    for name, value in changes.items():
        text = _with_line(text, name, value)
    after = parse_config(text, path=config.path)
    for name, value in changes.items():
        header = f"[{KEYS_TABLE}]\n" if name.startswith(_BINDING) else ""
        can_be = not parse_config(header + line_of(name, value), path=config.path).problems
        if can_be and asked_value(after, name) != value:
            raise UsageError(f"{config.path} cannot be changed here: write {line_of(name, value)} into it by hand")
    return after


def asked_value(config: Config, name: str) -> Change | None:
    """What the file asks for under a name as `edited` takes it."""
    if name.startswith(_BINDING):
        return config.asked.keys.get(name.removeprefix(_BINDING))
    return config.asked.value(name) if name in OPTION_BY_KEY else None


def line_of(name: str, value: Change) -> str:
    """The line of the file that says it."""
    if name.startswith(_BINDING):
        return f"{toml(name.removeprefix(_BINDING))} = {toml(value)}"
    return f"{name} = {toml(value)}"


def difference(before: Config, after: Config) -> tuple[str, ...]:
    """The lines that go, with a minus, and those that come, with a plus."""
    pairs = ((before.text or "").splitlines(), (after.text or "").splitlines())
    told = difflib.unified_diff(*pairs, n=0, lineterm="")
    return tuple(line for line in list(told)[2:] if not line.startswith("@@"))


def _with_line(text: str, name: str, value: Change) -> str:
    key = name.removeprefix(_BINDING)
    lines = text.splitlines()
    start, end = _section(lines, of_keys=name.startswith(_BINDING))
    if start is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{KEYS_TABLE}]", line_of(name, value), ""])
    quoted = re.escape(key)
    for sign in ("", r"#\s*"):
        pattern = re.compile(rf"""^\s*{sign}["']?{quoted}["']?\s*=""")
        for place in range(start, end):
            if pattern.match(lines[place]):
                lines[place : place + 1] = [*([lines[place]] if sign else []), line_of(name, value)]
                return "\n".join(lines) + "\n"
    while end > start and not lines[end - 1].strip():
        end -= 1
    lines.insert(end, line_of(name, value))
    return "\n".join(lines) + "\n"


def _section(lines: list[str], *, of_keys: bool) -> tuple[int | None, int]:
    """Where the settings, or the table of keys, begin and end; a start of None where there is no such table."""
    headers = [place for place, line in enumerate(lines) if _HEADER.match(line)]
    if not of_keys:
        return 0, min(headers, default=len(lines))
    for place in headers:
        if re.match(rf"^\s*\[\s*{KEYS_TABLE}\s*\]", lines[place]):
            return place + 1, next((later for later in headers if later > place), len(lines))
    return None, len(lines)
