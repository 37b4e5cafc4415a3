"""The commands, found by scanning `kgtui/cli/commands`: a module is a command, a package a command of subcommands.

A command defines `SUMMARY` (its line in the help), `GROUP` (its part of the help), `add_arguments(parser)` and
`run(options, console)`; one that starts an engine sets `STARTS_ENGINE = True`.  The package of a command with
subcommands defines `SUMMARY`, `GROUP` and `DEFAULT`, the subcommand that runs when none is typed, and may define
`HINT`, advice on a word that is no subcommand; a module in it is a subcommand, without a `GROUP`.  Listing reads the
source of the modules and imports none; a file that lacks a name is refused.
"""

from __future__ import annotations

import ast
import enum
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError

if TYPE_CHECKING:
    import argparse

    from kgtui.cli.command_parser import CommandParser
    from kgtui.cli.console import Console

COMMANDS = "kgtui.cli.commands"
_FUNCTIONS = ("add_arguments", "run")


class Group(enum.StrEnum):
    """A part of `kgtui --help`, in its order."""

    KERNELS = "Kernel files"
    MODELS = "Language models"
    HISTORY = "Earlier runs"
    REFERENCE = "Reference"
    SETUP = "Machine and settings"


class CommandModule(Protocol):
    """Interface of the module of a command, or of a subcommand."""

    SUMMARY: str

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments; may set `usage` and `epilog` of the parser."""

    def run(self, options: argparse.Namespace, console: Console) -> int:
        """Carry out the command; its exit code."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command as it is listed.  `has_subcommands`: its module is a package, `default` the one that runs alone."""

    name: str
    module: str
    summary: str
    group: Group | None
    has_subcommands: bool
    default: str | None


def module_by_name(package: str = COMMANDS) -> dict[str, str]:
    """The module of every command of a package by its name on the command line, in alphabetical order."""
    entries = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return {entry.name.replace("_", "-"): f"{package}.{entry.name}" for entry in sorted(entries, key=lambda e: e.name)}


def commands(package: str = COMMANDS) -> tuple[Command, ...]:
    """Every command of a package, by group and name; reads files and imports none of them.

    Raises:
        EngineError: a file does not define what a command must define.
    """
    order = list(Group)
    found = _listed(package, requires_group=True)
    return tuple(sorted(found, key=lambda command: order.index(command.group) if command.group else len(order)))


def subcommands(package: str) -> tuple[Command, ...]:
    """Every subcommand of the command whose package this is, by name.

    Raises:
        EngineError: as `commands`.
    """
    return tuple(_listed(package, requires_group=False))


def command_module(module: str) -> CommandModule:
    """The module of a command, imported on first use.

    Raises:
        EngineError: it does not define what a command must define.
    """
    imported = importlib.import_module(module)
    missing = [name for name in ("SUMMARY", *_FUNCTIONS) if not hasattr(imported, name)]
    if missing:
        raise EngineError(f"{module.replace('.', '/')}.py does not define {', '.join(missing)}")
    found: CommandModule = imported
    return found


def _listed(package: str, *, requires_group: bool) -> Iterator[Command]:
    folder = Path(next(iter(importlib.import_module(package).__path__)))
    for name, module in module_by_name(package).items():
        stem = module.rpartition(".")[2]
        has_subcommands = (folder / stem).is_dir()
        file = folder / stem / "__init__.py" if has_subcommands else folder / f"{stem}.py"
        defined = _defined(file)
        required = (
            "SUMMARY",
            *(("GROUP",) if requires_group else ()),
            *(("DEFAULT",) if has_subcommands else _FUNCTIONS),
        )
        missing = [one for one in required if one not in defined]
        if missing:
            raise EngineError(f"{file} does not define {', '.join(missing)}")
        yield Command(
            name=name,
            module=module,
            summary=_text(defined["SUMMARY"], file),
            group=_group(defined["GROUP"], file) if requires_group else None,
            has_subcommands=has_subcommands,
            default=_text(defined["DEFAULT"], file) if has_subcommands else None,
        )


def _defined(file: Path) -> dict[str, ast.expr | None]:
    """The values of the names assigned at the top level of a file; None for a function."""
    found: dict[str, ast.expr | None] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.FunctionDef(name=name):
                found[name] = None
            case _:
                pass
    return found


def _text(value: ast.expr | None, file: Path) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case _:
            raise EngineError(f"{file}: SUMMARY and DEFAULT should be texts in quotes")


def _group(value: ast.expr | None, file: Path) -> Group:
    match value:
        case ast.Attribute(value=ast.Name(id="Group"), attr=name) if name in Group.__members__:
            return Group[name]
        case _:
            raise EngineError(f"{file}: GROUP should be one of {', '.join(f'Group.{one.name}' for one in Group)}")
