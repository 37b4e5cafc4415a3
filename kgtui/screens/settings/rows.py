"""The settings and bindings as rows, and the detail of the one under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgtui.settings.file_edit import Change
from kgtui.settings.keymap import Keymap
from kgtui.settings.keys import Action, binding_id, shown_keys
from kgtui.settings.preferences import DETECTED, Preferences
from kgtui.settings.schema import KEYS_TABLE, OPTION_BY_KEY, Option, Value, toml
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong

HERE = "changed here, not written"

_AT_ONCE = frozenset({"theme", "ascii", "editor", "notify", "notify_after_s"})
_WIDTHS = (26, 24, 30)


@dataclass(frozen=True, kw_only=True)
class SettingsView:
    """The data that the screen shows; `detected` has the values of detected settings that are in use."""

    preferences: Preferences
    keymap: Keymap
    changes: Mapping[str, Change]
    detected: Mapping[str, str]


def columns_for(width: int) -> tuple[Column, ...]:
    """The columns; the source gets the remaining width."""
    name, value, source = _WIDTHS
    return (
        Column(label="setting", width=name),
        Column(label="value", width=value),
        Column(label="from", width=max(source, width - name - value - 3), least=source // 2),
    )


def rows_of(view: SettingsView, *, wanted: str) -> tuple[Row, ...]:
    """A row for every setting, then for every binding; `wanted` filters by these letters."""
    rows = [_setting_row(view, option) for option in OPTION_BY_KEY.values()]
    rows += [_binding_row(view, action) for action in view.keymap.actions if action.listed]
    sought = wanted.casefold().split()
    return tuple(row for row in rows if all(word in _words(row, view) for word in sought))


def detail_of(view: SettingsView, key: str) -> tuple[Line, ...]:
    """Meaning of the setting or binding, and when a change takes effect."""
    action = action_of(view.keymap, key)
    if action is not None:
        where = f"on the screen {action.where}" if action.where != "everywhere" else "on every screen"
        return (line(strong(action.label), f"  {action.help}"), line(muted(f"works {where}; enter changes the keys")))
    option = OPTION_BY_KEY[key]
    when = "takes effect immediately" if key in _AT_ONCE else "takes effect at the next start, once written"
    chosen = view.preferences.of(key)
    lines = [line(strong(key), f"  {option.help}"), line(muted(when))]
    if chosen.overridden is not None:
        words = f"the file sets {toml(chosen.overridden)}; {chosen.source} overrides it"
        lines.append(line(Span(words, Tone.WARN)))
    return tuple(lines)


def action_of(keymap: Keymap, key: str) -> Action | None:
    """The action whose binding a row is about; None for a setting."""
    name = key.removeprefix(f"{KEYS_TABLE}.")
    return next((one for one in keymap.actions if name != key and binding_id(one) == name), None)


def next_value(option: Option, value: Value | None) -> Value | None:
    """The next value of a setting with few choices; None if the value is typed."""
    if option.kind is bool:
        return not value
    if option.choices:
        known = option.choices
        return known[(known.index(str(value)) + 1) % len(known)] if value in known else known[0]
    return None


def value_text(view: SettingsView, key: str) -> str:
    """The value as text for the input: keys separated by spaces, strings without quotes."""
    action = action_of(view.keymap, key)
    if action is not None:
        return " ".join(action.keys)
    value = view.preferences.of(key).value
    return "" if value is None else value if isinstance(value, str) else toml(value)


def _setting_row(view: SettingsView, option: Option) -> Row:
    chosen = view.preferences.of(option.key)
    is_detected = chosen.source == DETECTED
    value = muted(view.detected.get(option.key, "–")) if is_detected else Span(value_text(view, option.key))
    return Row(key=option.key, cells=(Span(option.key), value, _source(view, option.key, chosen.source)))


def _binding_row(view: SettingsView, action: Action) -> Row:
    name = binding_id(action)
    source = str(view.preferences.config.path) if name in view.keymap.changed else "default"
    key = f"{KEYS_TABLE}.{name}"
    return Row(key=key, cells=(Span(name, Tone.LINK), Span(shown_keys(action)), _source(view, key, source)))


def _source(view: SettingsView, key: str, source: str) -> Span:
    if key in view.changes:
        return Span(HERE, Tone.WARN)
    path = view.preferences.config.path
    return Span(path.name if source == str(path) else source, Tone.PLAIN if source != "default" else Tone.MUTED)


def _words(row: Row, view: SettingsView) -> str:
    action = action_of(view.keymap, row.key)
    about = f"{action.label} {action.help}" if action is not None else OPTION_BY_KEY[row.key].help
    return " ".join((*(cell.text for cell in row.cells), about)).casefold()
