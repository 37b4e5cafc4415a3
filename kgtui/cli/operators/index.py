"""The operators of a command: the catalogue, and the user's own folder from `--problems` or the settings."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.console import Console
from kgtui.cli.operators.suites import suites_for
from kgtui.cli.resolved_settings import load_quietly
from kgtui.settings.paths import absolute, find_paths, with_home
from problems.index import ProblemIndex, open_index


def problem_index(options: argparse.Namespace, console: Console) -> ProblemIndex:
    """The index for the given arguments.

    Raises:
        UsageError: the folder of problems does not exist.
    """
    chosen = load_quietly(options, console).of("problems")
    cache = find_paths(console.environment).descriptions
    suites = suites_for(options, console)
    if not chosen.value:
        return open_index(suites=suites, cache=cache)
    folder = absolute(with_home(str(chosen.value), said_by="problems"), console.folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {chosen.value}, named by {chosen.source}; create it, or name another")
    return open_index(folders=(folder,), suites=suites, cache=cache)
