"""`kgtui config get`: the value of one setting, or the keys of one binding, for a script."""

from __future__ import annotations

import argparse

from kgtui.cli.choices import device_for, target_for
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.resolved_settings import load_quietly
from kgtui.cli.setting_names import BINDING, require_known
from kgtui.settings.preferences import Preferences
from kgtui.settings.schema import toml

SUMMARY = "Print the value of a setting."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui config get`."""
    parser.usage = f"{parser.prog} NAME"
    parser.add_argument("name", metavar="NAME", help="a setting, such as theme, or a binding: keys.workbench.run")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the effective value.

    Raises:
        UsageError: there is no such setting.
    """
    name = require_known(options.name)
    preferences = load_quietly(options, console)
    if name.startswith(BINDING):
        console.say(_keys(name.removeprefix(BINDING), preferences))
    else:
        console.say(_value(name, preferences))
    return Exit.PASSED


def _keys(binding: str, preferences: Preferences) -> str:
    from kgtui.settings.keymap import keymap_of
    from kgtui.settings.keys import binding_id

    keymap = keymap_of(preferences.config.settings.keys, file=str(preferences.config.path))
    return " ".join(next(action.keys for action in keymap.actions if binding_id(action) == binding))


def _value(name: str, preferences: Preferences) -> str:
    """The value without quotes, the detected one if none is set; "" if there is none."""
    match preferences.of(name).value:
        case None if name in ("device", "target"):
            device = device_for(preferences.text("device"))
            return device.platform if name == "device" else target_for(None, device=device) or "none"
        case None:
            return ""
        case str(text):
            return text
        case value:
            return toml(value)
