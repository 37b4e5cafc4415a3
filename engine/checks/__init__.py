"""Static checks: one file each, found by scanning this folder.

A check reads the syntax tree of a candidate and yields hints with a line.  Spelling proves nothing,
so a static check never decides: patterns of hacks are as common in honest code.  A check module
defines `CATCHES` and `SPARES` (example sources that it must flag and must leave alone) and
`check(tree)`.  A check that fails becomes a visible finding, never silence.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Protocol

from engine.errors import EngineError
from engine.model import Finding, Location, Severity

_REQUIRED = ("CATCHES", "SPARES", "check")


class Check(Protocol):
    """What every check module offers."""

    __name__: str
    CATCHES: tuple[str, ...]
    SPARES: tuple[str, ...]

    def check(self, tree: ast.Module) -> Iterator[Finding]:
        """Findings in this tree."""
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
            raise EngineError(f"engine/checks/{entry.name}.py does not define {', '.join(missing)}")
        found.append(module)
    return tuple(found)


def read_statically(tree: ast.Module) -> Iterator[Finding]:
    """What all checks find in this tree."""
    for check in checks():
        name = check.__name__.rpartition(".")[2]
        try:
            yield from check.check(tree)
        except Exception as error:  # the edge of a plug-in: fail closed, with a finding
            yield Finding(
                check=name, severity=Severity.NOTE, message=f"could not check: {type(error).__name__}: {error}"
            )


def hint(check: str, node: ast.AST, message: str) -> Finding:
    """A HINT at the place of `node`."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    location = Location(line=line, column=column + 1 if column is not None else None) if line else None
    return Finding(check=check, severity=Severity.HINT, message=message, location=location)
