"""The operations that the machine executes: one module per family, found by scanning this package.

A module defines `OPERATIONS`, which has a handler per name, and may define `UNSUPPORTED`, which has a reason per name.
A handler gets the frame, the step and the operands, and returns the result, or a tuple of results.  Terminators have no
handler: the operation that owns the region reads them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from engine.errors import UnsupportedError
from engine.machine.frame import Handler, where
from engine.machine.ir import Operation

TERMINATORS = frozenset(
    {"scf.yield", "scf.condition", "tt.return", "cf.br", "cf.cond_br", "tt.reduce.return", "tt.scan.return"}
    | {"tt.map_elementwise.return", "ub.unreachable"}
)


@cache
def operations_by_family() -> Mapping[str, tuple[str, Mapping[str, Handler]]]:
    """The first line of each module's docstring and its handlers, by the name of the module."""
    families = {}
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{found.name}")
        families[found.name] = ((module.__doc__ or "").strip().splitlines()[0], module.OPERATIONS)
    return families


@cache
def all_operations() -> Mapping[str, Handler]:
    """Every handler by the name of its operation; ValueError if two modules define one."""
    handlers: dict[str, Handler] = {}
    for family, (_, operations) in operations_by_family().items():
        for name, handler in operations.items():
            if name in handlers:
                raise ValueError(f"operations/{family}.py defines {name}, which another module defines too")
            handlers[name] = handler
    return handlers


@cache
def refused_operations() -> Mapping[str, str]:
    """Operations that are parsed but never executed, with the reason."""
    refused: dict[str, str] = {}
    for family in operations_by_family():
        refused |= getattr(importlib.import_module(f"{__name__}.{family}"), "UNSUPPORTED", {})
    return refused


def handler_of(operation: Operation) -> Handler:
    """The handler of an operation; UnsupportedError with its name and line if there is none."""
    handler = all_operations().get(operation.name)
    if handler is None:
        reason = refused_operations().get(operation.name, "the machine does not execute this operation")
        raise UnsupportedError(f"{where(operation)}{operation.name}: {reason}")
    return handler


def operations_markdown() -> str:
    """The table of the manual: operations by family."""
    rows = ["| family | operations |", "|---|---|"]
    for title, operations in operations_by_family().values():
        names = ", ".join(f"`{name}`" for name in sorted(operations))
        rows.append(f"| {title.rstrip('.')} | {names} |")
    rows.append("")
    rows.append("| not executed | reason |")
    rows.append("|---|---|")
    rows.extend(f"| `{name}` | {reason} |" for name, reason in sorted(refused_operations().items()))
    return "\n".join(rows)
