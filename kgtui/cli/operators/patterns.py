"""Operators on the command line: names, or patterns."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from engine.errors import UsageError
from kgtui.cli.console import Console
from kgtui.cli.operators.suites import typed_suite
from problems.index import ProblemIndex

_GLOB = "*?["


def operators_named(typed: Sequence[str], names: Sequence[str], *, resolve: Callable[[str], str]) -> tuple[str, ...]:
    """The full names of operators, each once; a pattern matches names in full or without their library.

    Raises:
        UsageError: there is no such operator, or none matches.
    """
    found: dict[str, None] = {}
    for word in typed:
        if not any(sign in word for sign in _GLOB):
            found[resolve(word)] = None
            continue
        matching = [name for name in names if fnmatchcase(name, word) or fnmatchcase(name.rpartition("::")[2], word)]
        if not matching:
            raise UsageError(f"no operator matches {word[:60]!r}; `kgtui problems list` lists them")
        found |= dict.fromkeys(matching)
    return tuple(found)


def suite_or_typed(
    typed: Sequence[str], options: argparse.Namespace, console: Console, *, index: ProblemIndex
) -> tuple[str, ...] | None:
    """The given operators; for `--suite` alone every task of it; None if neither was given.

    Raises:
        UsageError: there is no such operator, or the suite has no task.
    """
    if typed:
        return operators_named(typed, index.names, resolve=index.resolve)
    suite = typed_suite(options, console)
    if suite is None:
        return None
    if not suite.names():
        raise UsageError(f"{suite.choice.path} has no tasks; `kgtui problems list --suite PATH` lists what was found")
    return suite.names()
