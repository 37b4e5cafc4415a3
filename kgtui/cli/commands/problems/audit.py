"""`kgtui problems audit`: whether operators can tell right candidates from wrong ones, each in its own process."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import msgspec

from engine.errors import UsageError
from engine.model import ProblemId
from kgtui.cli.argument_groups import add_json, add_problems, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operator_patterns import operators_named
from kgtui.cli.problem_index import problem_index
from kgtui.settings.paths import find_paths
from problems.audits import audits_beside
from problems.folder import LIBRARY

SUMMARY = "Audit operators: outputs that are constant, thresholds that zeros pass, and the like."
JSON_SCHEMA = "kgtui.audit/1"

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
_TIMEOUT_S = 300


class Weakness(msgspec.Struct, frozen=True):
    """A defect of a problem, and the sentence that says what shows it."""

    defect: str
    text: str


class Health(msgspec.Struct, frozen=True):
    """What the process of the audit answers."""

    version: str
    weaknesses: tuple[Weakness, ...]
    error: str


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems audit`."""
    parser.usage = f"{parser.prog} [OP ...] [--problems DIR] [--jobs N] [--json]"
    parser.add_argument("ops", metavar="OP", nargs="*", help="operators or patterns (default: those of your own)")
    add_problems(parser)
    parser.add_argument("--jobs", metavar="N", type=positive_integer, default=1, help="at once (default: 1)")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print a line for each weakness, and keep the audits for lists and verdicts.

    Raises:
        UsageError: there is no such operator, or nothing to audit.
    """
    index = problem_index(options, console)
    typed = options.ops or [f"{LIBRARY}::*"]
    if not options.ops and not any(name.startswith(f"{LIBRARY}::") for name in index.names):
        raise UsageError("which operators? name some, or a folder of your own with --problems DIR")
    names = operators_named(typed, index.names, resolve=index.resolve)
    kept = audits_beside(find_paths(console.environment).descriptions)
    found: dict[str, Health] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        audits = pool.map(lambda name: audited(index.describe(name).source, name, console.environment), names)
        for name, health in zip(names, audits, strict=True):
            found[name] = health
            if not options.json:
                _say(console, name, health)
    made = {
        ProblemId(source=index.describe(name).source, name=name, version=health.version): tuple(
            one.text for one in health.weaknesses
        )
        for name, health in found.items()
        if not health.error
    }
    try:
        kept.add(made)
    except OSError as error:
        console.warn(f"the audits are not saved: {error.strerror}")
    if options.json:
        document = {"schema": JSON_SCHEMA, "problems": [{"name": name, **_plain(one)} for name, one in found.items()]}
        console.hand_out(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        console.say(_summary(found))
    return Exit.FAILED if any(one.weaknesses or one.error for one in found.values()) else Exit.PASSED


def audited(source: str, name: str, environment: Mapping[str, str]) -> Health:
    """The health of a problem, from a process that imports torch; a process that fails is the problem's fault."""
    command = [sys.executable, "-I", "-m", "problems.rules.audit", source, name]
    kept = {key: environment[key] for key in _PASSED_ON if key in environment}
    try:
        ended = subprocess.run(command, capture_output=True, env=kept, timeout=_TIMEOUT_S, check=False)
        return msgspec.json.decode(ended.stdout, type=Health)
    except subprocess.TimeoutExpired:
        return Health(version="", weaknesses=(), error=f"the reference did not end within {_TIMEOUT_S} s")
    except msgspec.MsgspecError:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return Health(version="", weaknesses=(), error=f"the process ended with status {ended.returncode}: {said}")


def _say(console: Console, name: str, health: Health) -> None:
    if health.error:
        console.say(f"{name}: not audited: {health.error}")
    for one in health.weaknesses:
        console.say(f"{name}: {one.defect}: {one.text}")


def _summary(found: Mapping[str, Health]) -> str:
    weak = sum(bool(one.weaknesses) for one in found.values())
    failed = sum(bool(one.error) for one in found.values())
    rest = f", {failed} not audited" if failed else ""
    return f"{len(found)} operators: {len(found) - weak - failed} healthy, {weak} with weaknesses{rest}"


def _plain(health: Health) -> dict[str, object]:
    return {"weaknesses": msgspec.to_builtins(health.weaknesses), "error": health.error}
