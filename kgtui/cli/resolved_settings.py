"""Settings of a command from the settings file: device, target, and folder of kernel files.

An invalid settings file stops no command: each error is one line on the error stream, and the rest of the file applies.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgtui.cli.console import Console
from kgtui.settings.paths import absolute, find_paths, with_home
from kgtui.settings.preferences import LINUX_CONSOLE, CommandLineSettings, Preferences, preferences_of
from kgtui.settings.schema import read_config

if TYPE_CHECKING:
    from engine.devices import Device
    from kgtui.cli.choices import KernelFile


def settled(options: argparse.Namespace, console: Console) -> Preferences:
    """The settings for the command line; prints errors of the file."""
    preferences = load_quietly(options, console)
    for problem in preferences.problems:
        console.warn(f"{problem} (`kgtui config show` lists the values in use)")
    return preferences


def load_quietly(options: argparse.Namespace, console: Console) -> Preferences:
    """As `settled`, without printing errors."""
    config = read_config(find_paths(console.environment).config)
    command_line = CommandLineSettings(
        ascii=getattr(options, "ascii", False),
        device=getattr(options, "device", None),
        target=getattr(options, "target", None),
        problems=getattr(options, "problems", None),
    )
    return preferences_of(
        config, environment=console.environment, command_line=command_line, encoding=console.out.encoding
    )


def in_signs(options: argparse.Namespace, console: Console) -> Console:
    """The console with the chosen glyph set, or the one that the terminal supports.

    Output to a file or another program keeps other letters, whatever the terminal supports.
    """
    chosen = load_quietly(options, console).of("ascii")
    is_of_terminal = chosen.source == LINUX_CONSOLE
    return replace(console, is_ascii=bool(chosen.value) and (console.out.isatty() or not is_of_terminal))


def place_for(options: argparse.Namespace, console: Console, *, file: KernelFile | None) -> tuple[Device, str | None]:
    """The device to run on and the target to compile for.

    Raises:
        UsageError: there is no such platform or target.
        UnsupportedError: the platform has no device on this machine.
    """
    return place_of(settled(options, console), options, file=file)


def place_of(
    preferences: Preferences, options: argparse.Namespace, *, file: KernelFile | None
) -> tuple[Device, str | None]:
    """As `place_for`, with settings read before."""
    from kgtui.cli.choices import device_for, target_for  # what runs need, and lists do not

    device = device_for(preferences.text("device"))
    preferred = preferences.text("target")
    return device, target_for(options.target, device=device, file=file, preferred=preferred)


def kernels_of(preferences: Preferences, folder: Path) -> Path:
    """The folder of the kernel files, relative to `folder`."""
    return absolute(with_home(preferences.text("folder") or "", said_by="folder"), folder)
