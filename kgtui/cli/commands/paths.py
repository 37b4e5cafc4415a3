"""`kgtui paths`: where data and settings are stored.  Creates nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import kernels_of, load_quietly
from kgtui.settings.paths import HOME_VARIABLE, find_paths

SUMMARY = "Print where data, settings and kernel files are."
GROUP = Group.SETUP


def add_arguments(parser: CommandParser) -> None:
    """No arguments besides those of every command."""
    parser.usage = parser.prog


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the paths, one a line."""
    paths = find_paths(console.environment)
    console.say(f"data       {paths.data}")
    console.say(f"sessions   {paths.sessions}")
    console.say(f"artefacts  {paths.artefacts}")
    console.say(f"peaks      {paths.peaks}")
    absent = "" if paths.config.exists() else "  (does not exist; kgtui config init creates it)"
    console.say(f"config     {paths.config}{absent}")
    console.say(f"prices     {paths.prices}{_optional(paths.prices)}")
    console.say(f"prompts    {paths.prompts}{_optional(paths.prompts)}")
    console.say(f"kernels    {kernels_of(load_quietly(options, console), console.folder)}")
    console.say(f"Set {HOME_VARIABLE} to store all but the kernels elsewhere. Directories are created on first use.")
    return Exit.PASSED


def _optional(path: Path) -> str:
    """A remark if the file or folder does not exist."""
    return "" if path.exists() else "  (optional, does not exist; kgtui manual models describes it)"
