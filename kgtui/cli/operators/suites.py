"""The foreign suites of a command: the one on the command line, and those of the setting."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.cli.console import Console
from kgtui.cli.resolved_settings import load_quietly
from kgtui.settings.paths import absolute, with_home

if TYPE_CHECKING:
    from problems.suites.settings import SuiteChoice
    from problems.suites.source import SuiteSource
    from problems.suites.task import Size, Task

_MOST_DIGITS, _MOST_SHOWN = 18, 80  # digits of a size, all below 2**63; characters
_SIZE = re.compile(r"[1-9][0-9]{0,17}")


def suites_for(options: argparse.Namespace, console: Console) -> tuple[SuiteSource, ...]:
    """The suite of `--suite` first, then those of the setting that still exist; all with the given sizes.

    Raises:
        UsageError: the path is not a suite.
    """
    known = known_suites(options, console)
    _require_suite(options, known)
    if not (known or getattr(options, "suite", None)):
        return ()  # without the imports below, which take longer than the rest of a list
    from problems.suites.source import suite_at

    choice = choice_for(options)
    typed = typed_suite(options, console)
    found = [] if typed is None else [typed]
    for path in known:
        try:
            found.append(suite_at(path, choice=choice))
        except UsageError as error:
            console.warn(f"setting suites: {error}; `kgtui suites remove {path}` removes it")
    return tuple(found)


def typed_suite(options: argparse.Namespace, console: Console) -> SuiteSource | None:
    """The suite of `--suite` with the given sizes; None if none was given.

    Raises:
        UsageError: the path is not a suite.
    """
    typed = getattr(options, "suite", None)
    if not typed:
        return None
    from problems.suites.source import suite_at

    return suite_at(absolute(with_home(typed, said_by="--suite"), console.folder), choice=choice_for(options))


def task_list_text(suite: SuiteSource, *, weak: Container[str] = ()) -> str:
    """A line for each task of a suite: name, category, title, sizes, or why it cannot be run.

    The names in `weak` are marked.
    """
    tasks = [(f"{name} !" if name in weak else name, suite.task(name)) for name in suite.names()]
    if not tasks:
        return f"{suite.choice.path} has no tasks"
    names = max(len(name) for name, _ in tasks)
    kinds = max(len(task.category) for _, task in tasks)
    return "\n".join(
        f"{name:<{names}}  {task.category:<{kinds}}  {task.title}  {_sizes_or_refusal(task)}".rstrip()
        for name, task in tasks
    )


def _sizes_or_refusal(task: Task) -> str:
    if task.refusal:
        return f"cannot be run: {task.refusal}"
    return " ".join(f"{name}={size}" for name, size in task.constants.items())


def known_suites(options: argparse.Namespace, console: Console) -> tuple[Path, ...]:
    """The paths of the setting, without the one given as an argument."""
    text = load_quietly(options, console).text("suites") or ""
    typed = getattr(options, "suite", None)
    named = (absolute(with_home(part, said_by="suites"), console.folder) for part in text.split(os.pathsep) if part)
    if not typed:
        return tuple(dict.fromkeys(named))
    other = absolute(with_home(typed, said_by="--suite"), console.folder).resolve()  # also under another path
    return tuple(path for path in dict.fromkeys(named) if path.resolve() != other)


def _require_suite(options: argparse.Namespace, known: tuple[Path, ...]) -> None:
    """Reject options for operators of suites if there is no suite.

    Raises:
        UsageError: one was given, and neither an argument nor the settings name a suite.
    """
    given = {
        "--cap": getattr(options, "cap", None) is not None,
        "--size": bool(getattr(options, "size", None)),
        "--precision": (getattr(options, "precision", None) or "fp32") != "fp32",
    }
    if known or getattr(options, "suite", None):
        return
    for name in (name for name, is_given in given.items() if is_given):
        raise UsageError(f"{name} is for operators of a suite: name one with --suite PATH")


def choice_for(options: argparse.Namespace) -> SuiteChoice:
    """The command line's sizes and precision; path and format are those of each suite.

    Raises:
        UsageError: a size is not of the form `NAME=N`, too large, or given twice.
    """
    from problems.suites.settings import Accuracy, SuiteChoice

    return SuiteChoice(
        path=Path(),
        format="",
        cap=getattr(options, "cap", None),
        sizes=dict(_sizes(getattr(options, "size", None) or [])),
        accuracy=Accuracy(getattr(options, "precision", None) or "fp32"),
    )


def _sizes(typed: list[str]) -> Iterator[tuple[str, Size]]:
    names: set[str] = set()
    for text in typed:
        name, _, value = text.partition("=")
        numbers = value.split(",")
        if not name.isidentifier() or not all(_SIZE.fullmatch(number) for number in numbers):
            shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
            wanted = f"NAME=N or NAME=N,N,... with numbers from 1 on, of {_MOST_DIGITS} digits at most"
            raise UsageError(f"--size {shown}: expected {wanted}")
        if name in names:
            raise UsageError(f"--size {name} is given twice; name it once")
        names.add(name)
        sizes = tuple(map(int, numbers))
        yield name, sizes[0] if len(sizes) == 1 else sizes
