"""Joins the source files of one candidate into one text, which is checked, stored and shown like any candidate.

The files are put in the order of their imports, and imports of each other are replaced by the names that they would
have bound. Sources whose meaning would change are refused: a name with two definitions, or a module used as a value.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import TypeAlias

from problems.suites.files import SuiteFileError
from problems.suites.texts.syntax import parsed

_FUTURE = "__future__"
_UNSHARED = frozenset({"__all__"})
_INSTALLED = sys.stdlib_module_names | {"numpy", "torch", "triton"}
_Import: TypeAlias = ast.Import | ast.ImportFrom


@dataclass(frozen=True, kw_only=True)
class _File:
    """One file: its path, text and syntax tree, and the paths of all files by the names that imports use."""

    path: str
    text: str
    tree: ast.Module
    modules: Mapping[str, str]

    @cached_property
    def own_imports(self) -> tuple[_Import, ...]:
        """The imports of other files of the candidate, at any level."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, _Import)]
        return tuple(node for node in nodes if any(self._target(node)))

    def _target(self, node: _Import) -> Iterator[str]:
        """The files to which an import refers."""
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module in self.modules and (node.level or not _is_installed(node.module)):
                yield self.modules[node.module]
        else:
            names = [alias.name for alias in node.names if alias.name in self.modules]
            is_relative = isinstance(node, ast.ImportFrom)
            yield from (self.modules[name] for name in names if is_relative or not _is_installed(name))

    @cached_property
    def needs(self) -> set[str]:
        """The files that this one imports."""
        return {path for node in self.own_imports for path in self._target(node)} - {self.path}

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Local names of imported files that the text uses as `name.attribute`."""
        found: dict[str, str] = {}
        for node in self.own_imports:
            named = [alias for alias in node.names if alias.name in self.modules]
            if isinstance(node, ast.Import) or node.module is None:
                found |= {alias.asname or alias.name: self.modules[alias.name] for alias in named}
        return found

    @cached_property
    def bound(self) -> dict[str, str]:
        """Names bound at module level, each with a text that identifies its origin; equal imports have equal texts."""
        found: dict[str, str] = {}
        for node in _at_top(self.tree):
            if isinstance(node, _Import):
                if node not in self.own_imports:
                    found |= {alias.asname or alias.name.partition(".")[0]: ast.unparse(node) for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module is not None:
                    found |= {alias.asname: self.path for alias in node.names if alias.asname not in (None, alias.name)}
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found[node.name] = self.path
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = self.path
        return {name: by for name, by in found.items() if name not in _UNSHARED}

    @cached_property
    def uses(self) -> set[str]:
        """Every plain name that the text reads."""
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}


def joined(sources: Mapping[str, str], *, entry: str, shown: str) -> str:
    """The text of all files that the file `entry` needs, ending with `entry`; errors begin with `shown`.

    Raises:
        SuiteFileError: a file does not parse, or the files cannot be joined; the message has the reason.
    """
    modules = dict(_module_names(sources))
    files = {
        path: _File(path=path, text=text, tree=parsed(text, f"{shown}, {path}"), modules=modules)
        for path, text in sources.items()
        if path.endswith(".py")
    }
    order = _ordered(files, entry, shown)
    _require_unambiguous(order, shown)
    parts = [f"# {file.path}\n{_rewritten(file, shown).rstrip()}\n" for file in order]
    future = [node for file in order for node in file.tree.body if _is_future(node)]
    head = "".join(f"{line}\n" for line in dict.fromkeys(map(ast.unparse, future)))
    return head + "\n\n".join(parts)


def _module_names(sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names that imports use for each file: its path from the common folder, and its last part alone."""
    for path in sources:
        place = PurePosixPath(path)
        if place.suffix == ".py":
            parts = place.with_suffix("").parts
            yield from ((".".join(parts[first:]), path) for first in range(len(parts)))


def _ordered(files: Mapping[str, _File], entry: str, shown: str) -> list[_File]:
    """The files that the entry's file needs, in the order of imports, then the entry's file.

    Raises:
        SuiteFileError: files import each other in a cycle.
    """
    needed, graph = [entry], dict[str, set[str]]()
    while needed:
        path = needed.pop()
        if path not in graph:
            graph[path] = files[path].needs
            needed += sorted(graph[path])
    try:
        return [files[path] for path in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        raise SuiteFileError(f"{shown}: its files import each other: {' -> '.join(error.args[1])}") from error


def _require_unambiguous(files: list[_File], shown: str) -> None:
    """Refuse files whose names would change their meaning in one text.

    Raises:
        SuiteFileError: two files bind a name differently, or one binds a name that another uses as a builtin.
    """
    first: dict[str, _File] = {}
    for file in files:
        for name, how in file.bound.items():
            other = first.setdefault(name, file)
            if other.bound[name] != how:
                raise SuiteFileError(
                    f"{shown}: {other.path} and {file.path} define {name!r} differently; its files are joined to one, "
                    "so rename one of them"
                )
    for name in first.keys() & set(dir(builtins)):
        user = next((file for file in files if name in file.uses and name not in file.bound), None)
        if user is not None:
            raise SuiteFileError(f"{shown}: {first[name].path} defines {name!r}, a builtin in {user.path}; rename it")


def _rewritten(file: _File, shown: str) -> str:
    """The text without imports of the other files; their definitions are used by name.

    Raises:
        SuiteFileError: an imported file is used in another way than by its attributes.
    """
    lines = file.text.encode().splitlines(keepends=True)
    changes: list[tuple[ast.stmt | ast.expr, str]] = [(node, "pass") for node in file.tree.body if _is_future(node)]
    changes += [(node, _in_place_of(node, file, f"{shown}: {file.path}:{node.lineno}")) for node in file.own_imports]
    named = {node.value: node for node in ast.walk(file.tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(file.tree):
        match node:
            case ast.Name(id=name) if name in file.aliases and node in named:
                changes.append((named[node], named[node].attr))
            case ast.Name(id=name) | ast.arg(arg=name) if name in file.aliases:
                raise SuiteFileError(
                    f"{shown}: {file.path}:{node.lineno} uses {name!r}, a module of its files, as a value; its files "
                    f"are joined to one, so import the names that it needs"
                )
    for place, text in sorted(changes, key=lambda change: (change[0].lineno, change[0].col_offset), reverse=True):
        _replace(lines, place, text)
    return b"".join(lines).decode()


def _in_place_of(node: _Import, file: _File, where: str) -> str:
    """The replacement of an import of other files: assignments for renamed names, and imports of its other modules.

    Raises:
        SuiteFileError: it imports a file through its folder, or a module that is not one of the files.
    """
    rest = [alias for alias in node.names if alias.name not in file.modules]
    renamed = [f"{alias.asname} = {alias.name}" for alias in rest if alias.asname not in (None, alias.name)]
    match node:
        case ast.ImportFrom(module=str()):
            return "; ".join(renamed) or "pass"
        case ast.ImportFrom() if rest:
            raise SuiteFileError(f"{where} imports {rest[0].name!r}, which is not one of its files")
        case ast.Import() if any("." in alias.name and alias not in rest for alias in node.names):
            raise SuiteFileError(f"{where} imports a file by its folder; write `from FOLDER.FILE import NAME`")
    return f"import {', '.join(map(ast.unparse, rest))}" if rest else "pass"


def _at_top(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes at module level, without those in functions, classes and comprehensions."""
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension
        ):
            yield from _at_top(child)


def _is_installed(module: str) -> bool:
    """Whether an absolute import finds an installed package of this name before files of the candidate."""
    return module.partition(".")[0] in _INSTALLED


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _FUTURE


def _replace(lines: list[bytes], node: ast.stmt | ast.expr, text: str) -> None:
    """Replace a node by a text; the following lines keep their numbers."""
    assert node.end_lineno is not None and node.end_col_offset is not None  # always set for parsed text
    first, last = node.lineno - 1, node.end_lineno - 1
    rest = lines[last][node.end_col_offset :]
    lines[first] = lines[first][: node.col_offset] + text.encode() + (rest if first == last else b"\n")
    for number in range(first + 1, last + 1):
        lines[number] = rest if number == last else b"\n"
