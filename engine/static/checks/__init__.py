"""Static checks that follow data or structure: one file each, found by scanning this folder, which stays flat.

A check that only looks for names is a row of `engine.static.names`; `checks()` lists both.  A check reads a candidate
through `engine.static.analysis` and yields hints with a line.  Spelling proves nothing, so a static check never
decides: suspicious patterns are as common in honest code.  A check module defines `CATCHES` and `SPARES` (example
sources that it must flag and must not), `STRICT` (the rule of strict benchmarks that a finding breaks, as a sentence,
or "" where their published rules allow it) and `check(reading)`.  Its file name is the stable name of its findings.
A check that fails becomes a visible finding.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from engine.errors import EngineError
from engine.model import Finding, Location
from engine.static.analysis import Reading
from engine.static.findings import could_not_check
from engine.static.names import TABLE
from engine.static.native.extensions import extensions_of

MOST_NODES = 50_000
"""A source with more syntax nodes is not checked: the verdict would wait for it."""

REFUTED_AT_LINES = frozenset({"torch_compute"})
"""Checks whose hints say nothing about lines that ran in calls whose answers are all proven to be those of kernels."""
REFUTED_BY_PROOF = REFUTED_AT_LINES | {"unwritten_output"}
"""These, and checks whose hints say nothing about any line if all answers are proven."""

_LEAST_GROUPED, _MOST_LINES = 3, 6
_REQUIRED = ("CATCHES", "SPARES", "STRICT", "check")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check, from a file or from the table of names."""

    name: str
    why: str
    strict: str
    catches: tuple[str, ...]
    spares: tuple[str, ...]
    find: Callable[[Reading], Iterator[Finding]]


def checks() -> tuple[Check, ...]:
    """Every check, by name.

    Raises:
        EngineError: a module here does not define what a check must define.
    """
    rows = (
        Check(name=row.name, why=row.why, strict=row.strict, catches=row.catches, spares=row.spares, find=row.find)
        for row in TABLE
    )
    files = (_from_module(entry.name) for entry in pkgutil.iter_modules(__path__))
    return tuple(sorted((*rows, *files), key=lambda check: check.name))


def _from_module(name: str) -> Check:
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [required for required in _REQUIRED if not hasattr(module, required)]
    if missing:
        raise EngineError(f"engine/static/checks/{name}.py does not define {', '.join(missing)}")
    return Check(
        name=name,
        why=module.__doc__ or "",
        strict=module.STRICT,
        catches=module.CATCHES,
        spares=module.SPARES,
        find=module.check,
    )


def read_statically(
    tree: ast.Module,
    text: str = "",
    entry: str | None = None,
    *,
    on_failure: Callable[[str, str], object] = lambda *_: None,
) -> Iterator[Finding]:
    """Findings of all checks in this tree; comments are read if the source is given.

    With `entry`, the function that will be called, code that it does not reach is skipped.  `on_failure` is called with
    the name and the error of each check that raises one that is not due to the size of the file.
    """
    try:
        reading = Reading(tree, text=text, entry=entry)
    except RecursionError as error:
        yield could_not_check("reading", f"{type(error).__name__}: {error}")
        return
    if reading.size > MOST_NODES:
        yield could_not_check("reading", f"the file has {reading.size} syntax nodes (limit: {MOST_NODES})")
        return
    for check in checks():
        found: list[Finding] = []
        try:
            for finding in check.find(reading):
                found.append(finding)  # noqa: PERF402  # what was found before it failed is kept
        except Exception as error:  # plug-in boundary: fail closed, with a finding
            why = f"{type(error).__name__}: {error}"
            found.append(could_not_check(check.name, why))
            if not isinstance(error, RecursionError | MemoryError):
                on_failure(check.name, why)
        yield from found
    yield from _unread_texts(reading)


def _unread_texts(reading: Reading) -> Iterator[Finding]:
    """A NOTE for each part of the native code that the syntax tree does not show, so that no check has read it."""
    for extension in extensions_of(reading):
        for clause in extension.unknown:
            yield replace(could_not_check("native_text", clause), location=Location(line=extension.line))


def grouped(found: Iterable[Finding], *, apart: Collection[str] = ()) -> Iterator[Finding]:
    """Merge findings of a check with the same message into the first, with their count and lines; not those `apart`."""
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        same.setdefault((finding.check, finding.message), []).append(finding)
    for (check, message), group in same.items():
        if len(group) < _LEAST_GROUPED or check in apart:
            yield from group
            continue
        lines = sorted({finding.location.line for finding in group if finding.location is not None})
        shown = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
        yield replace(group[0], message=f"{message} ({len(group)} times, lines {shown})")
