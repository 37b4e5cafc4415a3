"""`kgtui problems check`: apply the rules of the catalogue to one operator, in a separate process."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping

import msgspec

from engine.errors import EngineError, UsageError
from kgtui.cli.argument_groups import add_json, add_problems
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.settings.paths import absolute
from problems.folder import LIBRARY, Folder

SUMMARY = "Apply the rules of the catalogue to a problem file or an operator, and list violations."

JSON_SCHEMA = "kgtui.rules/1"

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
_TIMEOUT_S = 600


class Breach(msgspec.Struct, frozen=True):
    """A broken rule and its evidence."""

    rule: str
    text: str


class Report(msgspec.Struct, frozen=True):
    """Reply of the process that checks the rules."""

    rules: int
    complaints: tuple[Breach, ...]
    error: str


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems check`."""
    parser.usage = f"{parser.prog} FILE [--json]"
    parser.add_argument("op", metavar="FILE", nargs="?", help="a problem file, or the name of an operator")
    add_problems(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print a line for every breach.

    Raises:
        UsageError: no operator was given, or there is no such file or operator.
        EngineError: the file is not a problem file, or its code ended the checking process.
    """
    if options.op is None:
        raise UsageError("which file? `kgtui problems check FILE` applies the rules to a problem file")
    source, name = _named(options, console)
    report = applied(source, name, environment=console.environment)
    if report.error:
        raise EngineError(report.error)
    if options.json:
        document = {"schema": JSON_SCHEMA, "problem": name, "rules": report.rules, "complaints": report.complaints}
        console.write_document(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        for one in report.complaints:
            console.say(f"{one.rule:<24} {one.text}")
        broken = len({one.rule for one in report.complaints})
        console.say(f"{name}: {report.rules - broken}/{report.rules} rules kept")
    return Exit.FAILED if report.complaints else Exit.PASSED


def applied(source: str, name: str, *, environment: Mapping[str, str]) -> Report:
    """The report on a problem, from a process that imports torch.

    Raises:
        EngineError: the process ended without a report; the message has the end of its output.
    """
    command = [sys.executable, "-I", "-m", "problems.rules", source, name]
    kept = {key: environment[key] for key in _PASSED_ON if key in environment}
    try:
        ended = subprocess.run(command, capture_output=True, env=kept, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"checking the rules timed out after {_TIMEOUT_S} s; make the cases of {name} smaller"
        ) from error
    try:
        return msgspec.json.decode(ended.stdout, type=Report)
    except msgspec.MsgspecError as error:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise EngineError(f"the process that checks the rules exited with status {ended.returncode}: {said}") from error


def _named(options: argparse.Namespace, console: Console) -> tuple[str, str]:
    """The source and the name of the given problem."""
    path = absolute(options.op, console.folder)
    if path.suffix == ".py":
        if not path.is_file():
            raise UsageError(f"there is no file {options.op}; name a problem file or an operator")
        return Folder(path.parent).id, f"{LIBRARY}::{path.stem}"
    index = problem_index(options, console)
    name = index.resolve(options.op)
    return index.describe(name).source, name
