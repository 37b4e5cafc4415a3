"""Static checks: one file each, found by scanning this folder.

A check reads a candidate through `engine.static.analysis` and yields hints with a line.  Spelling proves
nothing, so a static check never decides: patterns of hacks are as common in honest code.  A check module
defines `CATCHES` and `SPARES` (example sources that it must flag and must leave alone), `STRICT` (the
rule of strict benchmarks that what it flags breaks, as a sentence, or "" where their published rules
allow it) and `check(reading)`.  Its file name is the stable name of its findings.  A check that fails
becomes a visible finding, never silence.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from engine.errors import EngineError
from engine.model import Finding, Location, Severity
from engine.static.analysis import Reading

MOST_NODES = 50_000
"""A text of more syntax is not read: whoever waits for the verdict would wait for this."""

_LEAST_GROUPED, _MOST_LINES = 3, 6
_REQUIRED = ("CATCHES", "SPARES", "STRICT", "check")


class Check(Protocol):
    """What every check module offers."""

    __name__: str
    CATCHES: tuple[str, ...]
    SPARES: tuple[str, ...]
    STRICT: str

    def check(self, reading: Reading) -> Iterator[Finding]:
        """Findings in this text."""
        ...


def checks() -> tuple[Check, ...]:
    """Every check, in the order of their names.

    Raises:
        EngineError: a module here does not define what a check must define.
    """
    found: list[Check] = []
    for entry in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        missing = [name for name in _REQUIRED if not hasattr(module, name)]
        if missing:
            raise EngineError(f"engine/static/checks/{entry.name}.py does not define {', '.join(missing)}")
        found.append(module)
    return tuple(found)


def read_statically(tree: ast.Module, text: str = "", entry: str | None = None) -> Iterator[Finding]:
    """What all checks find in this tree; comments are read if the text is given.

    With `entry`, the function that will be called, code that it does not lead to is left alone.
    """
    try:
        reading = Reading(tree, text=text, entry=entry)
    except RecursionError as error:
        yield could_not_check("reading", f"{type(error).__name__}: {error}")
        return
    if reading.size > MOST_NODES:
        yield could_not_check("reading", f"the file has {reading.size} nodes of syntax, and {MOST_NODES} are the most")
        return
    for check in checks():
        found: list[Finding] = []
        try:
            for finding in check.check(reading):
                found.append(finding)  # noqa: PERF402  # what was found before it failed is kept
        except Exception as error:  # the edge of a plug-in: fail closed, with a finding
            found.append(could_not_check(name_of(check), f"{type(error).__name__}: {error}"))
        yield from _grouped(found)


def _grouped(found: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for all with the same words, in the order of the first, with their count and lines."""
    same: dict[str, list[Finding]] = {}
    for finding in found:
        same.setdefault(finding.message, []).append(finding)
    for message, group in same.items():
        if len(group) < _LEAST_GROUPED:
            yield from group
            continue
        lines = sorted({finding.location.line for finding in group if finding.location is not None})
        shown = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
        yield replace(group[0], message=f"{message} ({len(group)} times, in lines {shown})")


def name_of(check: Check) -> str:
    """The name that the findings of a check carry."""
    return check.__name__.rpartition(".")[2]


def hint(check: str, node: ast.AST, message: str) -> Finding:
    """A HINT at the place of `node`."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    location = Location(line=line, column=column + 1 if column is not None else None) if line else None
    return Finding(check=check, severity=Severity.HINT, message=message, location=location)


def could_not_check(name: str, why: str) -> Finding:
    """A NOTE that this check was not made, and why."""
    return Finding(check=name, severity=Severity.NOTE, message=f"could not check: {why}")
