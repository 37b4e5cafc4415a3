"""Docstrings of the functions that a problem file refers to, read from syntax trees; nothing is imported or run."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from engine.model.parsing import parse

_PACKAGE = "problems"
_FOLDER = Path(__file__).parent
_MOST_STEPS = 8  # imports and assignments from a name to its function; a longer chain is taken for a cycle


def docstring_of(file: Path, name: str) -> str:
    """The docstring of `name` in `file`; "" if there is none.

    Names imported from this package are followed to their definition, and `partial(function, ...)` to its function.

    Raises:
        OSError, ValueError, SyntaxError: one of the files cannot be read.
    """
    for _ in range(_MOST_STEPS):
        defined = _definition(parse(file.read_text(encoding="utf-8")), name)
        match defined:
            case ast.FunctionDef():
                return ast.get_docstring(defined) or ""
            case ast.ImportFrom(module=str(module), level=0) if _file_of(module) is not None:
                file = _file_of(module) or file
                name = next(alias.name for alias in defined.names if (alias.asname or alias.name) == name)
            case ast.Assign(value=ast.Call(func=ast.Name(id="partial"), args=[ast.Name(id=wrapped), *_])):
                name = wrapped
            case ast.Assign(value=ast.Name(id=other)):
                name = other
            case _:
                return ""
    return ""


def _definition(tree: ast.Module, name: str) -> ast.stmt | None:
    """The last statement at module level that binds the name."""
    for statement in reversed(tree.body):
        match statement:
            case ast.FunctionDef(name=defined) if defined == name:
                return statement
            case ast.ImportFrom(names=names) if any((alias.asname or alias.name) == name for alias in names):
                return statement
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return statement
    return None


@lru_cache(maxsize=64)
def _file_of(module: str) -> Path | None:
    """The file of a module of this package; None for any other module."""
    first, *parts = module.split(".")
    if first != _PACKAGE:
        return None
    path = _FOLDER.joinpath(*parts)
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in found if file.is_file()), None)
