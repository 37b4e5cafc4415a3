"""Readers of a syntax tree: definitions, parameters, local names, calls.  Nothing is run."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from typing import TypeAlias

from engine.model.parsing import parse
from problems.suites.files import SuiteFileError

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_DRAWS = frozenset({"rand", "randn", "randint", "randperm", "bernoulli", "multinomial", "normal", "dropout"})


def parsed(text: str, shown: str) -> ast.Module:
    """The syntax tree of a text; `shown` is its name in errors.

    Raises:
        SuiteFileError: it does not parse.
    """
    try:
        return parse(text)
    except SyntaxError as error:
        raise SuiteFileError(f"{shown}:{error.lineno or 1}: syntax error: {error.msg}; left out") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SuiteFileError(f"{shown}: cannot be parsed: {error}; left out") from error


def lines_of(text: str) -> list[str]:
    """The lines of a Python text with their line ends, counted as in its syntax tree: a form feed is not a line end."""
    return list(io.StringIO(text))


def functions(tree: ast.Module | ast.ClassDef) -> dict[str, Function]:
    """The functions at module level or in a class, by name, in order; of two with one name the last."""
    return {node.name: node for node in tree.body if isinstance(node, Function)}


def parameters(function: Function) -> tuple[str, ...]:
    """The names of a function's parameters without `*args` and `**kwargs`, keyword-only ones last."""
    spec = function.args
    return tuple(one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))


def called_names(tree: ast.AST) -> Iterator[str]:
    """Names of the calls in a tree, the last part of dotted names, in the order of the text."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        match call.func:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


def used_names(tree: ast.AST) -> Iterator[str]:
    """The plain names that a tree reads, in the order of the text."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    yield from (node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)))


def bound_names(tree: ast.Module) -> set[str]:
    """The functions and classes at module level, and the names assigned or imported there."""
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name for alias in names}
    return found


def imported_packages(tree: ast.AST) -> set[str]:
    """The first parts of the names of all imported modules, including imports within functions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def draws_random(tree: ast.AST) -> bool:
    """Whether a call in the tree has the name of a torch function that draws random numbers."""
    return any(name in _DRAWS or name.endswith("dropout") or name.startswith("rand") for name in called_names(tree))


def may_write_arguments(tree: ast.AST) -> bool:
    """Whether code in the tree may write to an argument tensor; also true for code that writes only to its own tensors.

    Writes are an assignment to elements, a method of torch that ends in "_", `out=...` or `inplace=True`, or the launch
    of a kernel.
    """
    return any(map(_may_write, ast.walk(tree)))


def _may_write(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Subscript) for target in targets)
        case ast.AugAssign() | ast.Call(func=ast.Subscript()):
            return True
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), keywords=keywords):
            return (name.endswith("_") and not name.endswith("__")) or any(map(asks_to_write, keywords))
    return False


def asks_to_write(keyword: ast.keyword) -> bool:
    """Whether a call has an argument that requests that the result is written to an argument."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else ...
    return (keyword.arg == "inplace" and value is not False) or (keyword.arg == "out" and value is not None)


def seeds(tree: ast.AST) -> bool:
    """Whether the tree seeds a random generator."""
    return bool({"manual_seed", "set_seed", "seed", "seed_all"} & set(called_names(tree)))
