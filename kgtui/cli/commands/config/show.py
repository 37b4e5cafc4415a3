"""`kgtui config show`: every setting, its value, and the origin of the value.

Exits with an error if the file has errors, and still shows the effective values.
"""

from __future__ import annotations

import argparse

from kgtui.cli.choices import device_for, target_for
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.resolved_settings import load_quietly
from kgtui.settings.preferences import DETECTED, EffectiveSetting, Preferences, setting_line
from kgtui.settings.schema import toml

SUMMARY = "Show every setting, its value and where the value comes from."


def add_arguments(parser: CommandParser) -> None:
    """No arguments besides those of every command."""
    parser.usage = parser.prog


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the settings; exit code USAGE if the file has errors."""
    from kgtui.settings.keymap import keymap_of

    preferences = load_quietly(options, console)
    config = preferences.config
    keymap = keymap_of(config.settings.keys, file=str(config.path))
    missing = "(it cannot be read)" if config.problems else "(none; kgtui config init creates one)"
    console.say(f"file  {config.path}" if config.text is not None else f"file  {config.path}  {missing}")
    for one in preferences.settings:
        console.say(setting_line(one, found=_found(one, preferences)))
    for name, keys in keymap.bindings.items():
        console.say(f"{name:<15} {keys:<14} {config.path}")
    problems = (*preferences.problems, *keymap.problems)
    for problem in problems:
        console.warn(problem)
    return Exit.USAGE if problems else Exit.PASSED


def _found(one: EffectiveSetting, preferences: Preferences) -> str:
    """The detected defaults: this machine's device and its target."""
    if one.source != DETECTED or one.key not in ("device", "target"):
        return ""
    device = device_for(preferences.text("device"))
    return toml(device.platform if one.key == "device" else target_for(None, device=device) or "none")
