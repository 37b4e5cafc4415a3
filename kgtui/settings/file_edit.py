"""Changes a settings file with tomlkit: order, layout and comments stay.

Pure functions; the result is read again before it is written, so that a file that cannot be changed is rejected, never
damaged.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.settings.schema import KEYS_TABLE, OPTION_BY_KEY, Config, Value, parse_config, toml

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.container import Container
    from tomlkit.items import AbstractTable, Item

_BINDING = f"{KEYS_TABLE}."

Change = Value | tuple[str, ...]


def edited(config: Config, changes: Mapping[str, Change]) -> Config:
    """The file as it would be with `changes`: settings by key, bindings as "keys.workbench.run".

    Raises:
        UsageError: the file is not TOML, or its bindings are not a table; the message has the line to write.
    """
    text = config.text or ""
    for name, value in changes.items():
        try:
            text = _changed(text, name, value)
        except (ValueError, RecursionError) as error:
            raise UsageError(_by_hand(config, name, value)) from error
    after = parse_config(text, path=config.path)
    for name, value in changes.items():
        header = f"[{KEYS_TABLE}]\n" if name.startswith(_BINDING) else ""
        can_be = not parse_config(header + line_of(name, value), path=config.path).problems
        if can_be and value_in_file(after, name) != value:
            raise UsageError(_by_hand(config, name, value))
    return after


def without(config: Config, name: str) -> Config:
    """The file as it would be without a setting or binding.

    Raises:
        UsageError: the file does not have it, or cannot be changed.
    """
    import tomlkit

    try:
        document = tomlkit.parse(config.text or "")
        holder, key = _place(document, name)
        del holder[key]
    except (ValueError, KeyError, RecursionError) as error:
        raise UsageError(f"{config.path} does not set {name}; `kgtui config show` lists what it sets") from error
    return parse_config(tomlkit.dumps(document), path=config.path)


def _by_hand(config: Config, name: str, value: Change) -> str:
    why = f"; {config.problems[0]}" if config.problems else ""
    return f"{config.path} cannot be changed here: write {line_of(name, value)} into it by hand{why}"


def value_in_file(config: Config, name: str) -> Change | None:
    """The file's value of a name, in the form for `edited`."""
    if name.startswith(_BINDING):
        return config.settings.keys.get(name.removeprefix(_BINDING))
    return config.settings.value(name) if name in OPTION_BY_KEY else None


def line_of(name: str, value: Change) -> str:
    """The line of the file that sets a name."""
    if name.startswith(_BINDING):
        return f"{toml(name.removeprefix(_BINDING))} = {toml(value)}"
    return f"{name} = {toml(value)}"


def difference(before: Config, after: Config) -> tuple[str, ...]:
    """The removed lines, with a minus, and the added ones, with a plus."""
    pairs = ((before.text or "").splitlines(), (after.text or "").splitlines())
    changed_lines = difflib.unified_diff(*pairs, n=0, lineterm="")
    return tuple(line for line in list(changed_lines)[2:] if not line.startswith("@@"))


def _changed(text: str, name: str, value: Change) -> str:
    """The text with one setting or binding changed.

    Raises:
        ValueError: it is not TOML, or the name is inside something that is not a table.
    """
    import tomlkit
    from tomlkit.items import Table

    document = tomlkit.parse(text)
    new = tomlkit.value(toml(value))
    if not name.startswith(_BINDING):
        if name in document or not _put_below_comment(document, name, new):
            document[name] = new
        return tomlkit.dumps(document)
    if KEYS_TABLE not in document:
        document[KEYS_TABLE] = tomlkit.table()
    holder, key = _place(document, name)
    if not (isinstance(holder, Table) and key not in holder and _put_below_comment(holder.value, key, new)):
        holder[key] = new
    return tomlkit.dumps(document)


def _place(document: TOMLDocument, name: str) -> tuple[TOMLDocument | AbstractTable, str]:
    """The table of a setting or a binding, existing or new, and the key in it.

    Raises:
        ValueError: the bindings are not a table.
    """
    from tomlkit.items import AbstractTable

    if not name.startswith(_BINDING):
        return document, name
    table = document.get(KEYS_TABLE)
    if not isinstance(table, AbstractTable):
        raise ValueError(f"{KEYS_TABLE} is not a table")
    return _holder(table, name.removeprefix(_BINDING))


def _holder(table: AbstractTable, name: str) -> tuple[AbstractTable, str]:
    """The table that has a binding, and the key in it: TOML reads an id without quotes as nested tables."""
    from tomlkit.items import AbstractTable

    first, dot, rest = name.partition(".")
    inner = table.get(first) if dot and name not in table else None
    if isinstance(inner, AbstractTable):
        holder, key = _holder(inner, rest)
        if key in holder:
            return holder, key
    return table, name


def _put_below_comment(container: Container, key: str, value: Item) -> bool:
    """Insert a new entry below the comment with its key, as in the template; whether there is such a comment.
    The container can only be serialised afterwards: its index lacks the entry.
    """
    import tomlkit

    pattern = re.compile(rf"""^#\s*["']?{re.escape(key)}["']?\s*=""")
    for place, (known, item) in enumerate(container.body):
        if known is None and pattern.match(item.as_string().strip()):
            container.body.insert(place + 1, (tomlkit.key(key), value))
            return True
    return False
