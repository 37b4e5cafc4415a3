"""`kgtui problems audit`: whether operators reject wrong candidates."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.errors import EngineError, UsageError
from engine.model import Problem, ProblemId
from engine.model.counts import counted
from kgtui.cli.argument_groups import add_json, add_problems, positive_integer
from kgtui.cli.batches.progress_line import ProgressLine
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.audits import Health, OnHealth, audit_own, audit_tasks_here
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.patterns import operators_named, suite_or_typed
from kgtui.settings.paths import find_paths
from problems.audits import audits_beside
from problems.folder import LIBRARY
from problems.index import ProblemIndex

SUMMARY = "Audit operators: outputs that are constant, thresholds that zeros pass, and the like."
JSON_SCHEMA = "kgtui.audit/1"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems audit`."""
    parser.usage = f"{parser.prog} [OP ...] [--problems DIR] [--suite PATH] [--jobs N] [--json]"
    parser.add_argument("ops", metavar="OP", nargs="*", help="operators or patterns (default: your own)")
    add_problems(parser)
    parser.add_argument("--jobs", metavar="N", type=positive_integer, default=1, help="at once (default: 1)")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print a line for each weakness, and keep the audits for lists and verdicts.

    Raises:
        UsageError: there is no such operator, or nothing to audit.
    """
    index = problem_index(options, console)
    names = _named(options, console, index)
    found: dict[str, Health] = {}
    line = ProgressLine(console)

    def on_health(name: str, health: Health) -> None:
        found[name] = health
        line.erase()
        if not options.json:
            _say(console, name, health)
        line.count(len(found), len(names))

    line.count(0, len(names))
    try:
        _audit(names, index, jobs=options.jobs, console=console, on_health=on_health)
    finally:
        line.erase()
    _keep(found, index, console)
    if options.json:
        document = {"schema": JSON_SCHEMA, "problems": [{"name": name, **_plain(one)} for name, one in found.items()]}
        console.write_document(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        console.say(_summary(found))
    return Exit.FAILED if any(one.weaknesses or one.error for one in found.values()) else Exit.PASSED


def _audit(names: Sequence[str], index: ProblemIndex, *, jobs: int, console: Console, on_health: OnHealth) -> None:
    """Audit the catalogue's and the user's own operators, then tasks of suites."""
    foreign = [name for name in names if index.is_foreign(name)]
    own = [(index.describe(name).source, name) for name in names if not index.is_foreign(name)]
    audit_own(own, jobs=jobs, environment=console.environment, on_health=on_health)
    if foreign:
        problems = list(_found(foreign, index, on_health))
        audit_tasks_here(problems, jobs=jobs, environment=console.environment, on_health=on_health)


def _named(options: argparse.Namespace, console: Console, index: ProblemIndex) -> tuple[str, ...]:
    """Names from the command line, else all tasks of its suite, else the user's own operators.

    Raises:
        UsageError: there is no such operator, or nothing to audit.
    """
    named = suite_or_typed(options.ops, options, console, index=index)
    if named is not None:
        return named
    if not any(name.startswith(f"{LIBRARY}::") for name in index.names):
        raise UsageError(
            "which operators? name some, a folder of your own with --problems DIR, or a suite with --suite PATH"
        )
    return operators_named([f"{LIBRARY}::*"], index.names, resolve=index.resolve)


def _found(names: Sequence[str], index: ProblemIndex, on_health: OnHealth) -> Iterator[Problem]:
    """The problems with these names; a problem that is unavailable at the given sizes is printed with the reason."""
    for name in names:
        try:
            yield index.find(name)
        except (UsageError, EngineError) as error:
            on_health(name, Health(version="", error=str(error)))


def _keep(found: Mapping[str, Health], index: ProblemIndex, console: Console) -> None:
    """Store the audits for lists and verdicts."""
    made = {
        ProblemId(source=index.describe(name).source, name=name, version=health.version): health.deciding
        for name, health in found.items()
        if not health.error
    }
    try:
        audits_beside(find_paths(console.environment).descriptions).add(made)
    except OSError as error:
        console.warn(f"the audits are not saved: {error.strerror}")


def _say(console: Console, name: str, health: Health) -> None:
    if health.error:
        console.say(f"{name}: not audited: {health.error}")
    for one in health.weaknesses:
        console.say(f"{name}: {one.defect}: {one.text}")


def _summary(found: Mapping[str, Health]) -> str:
    weak = sum(bool(one.weaknesses) for one in found.values())
    failed = sum(bool(one.error) for one in found.values())
    rest = f", {failed} not audited" if failed else ""
    return f"{counted(len(found), 'operator')}: {len(found) - weak - failed} healthy, {weak} with weaknesses{rest}"


def _plain(health: Health) -> dict[str, object]:
    return {"weaknesses": msgspec.to_builtins(health.weaknesses), "error": health.error}
