"""What Triton's frontend reads of a kernel now: its source, and the values of the names in it.

Triton's own hash of a kernel is kept from its first use, and has no attributes of modules.  The frontend looks names up
whenever it lowers, so that one process may lower another text than the next, and another one later.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import triton.language as tl
from triton.runtime.jit import JITFunction

# Triton's kernels and sources are not typed, and names have any value: Any throughout this file.

_PLAIN = (bool, int, float, str, bytes, type(None))
_MOST_TEXTS = 1000
_names_by_text: dict[str, tuple[tuple[str, ...], ...]] = {}


class _UnknownError(Exception):
    """A value that two processes cannot compare."""


def state_of(source: Any) -> str:
    """A digest for a source of Triton's compiler; "" where a name has a value that two processes cannot compare."""
    seen: dict[int, int] = {}
    try:
        constants = [_described(value, seen) for _, value in sorted(source.constants.items())]
        text = "\n".join((_described(source.fn, seen), *constants))
    except Exception:  # of the candidate's objects, too, whose attributes are read
        return ""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _described(value: Any, seen: dict[int, int]) -> str:
    """A value as text without addresses.

    Raises:
        _UnknownError: it has no such text.
    """
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if isinstance(value, tl.constexpr):
        return f"constexpr({_described(value.value, seen)})"
    if isinstance(value, tl.dtype):
        return str(value)
    if isinstance(value, tuple | list):
        return f"{kind.__name__}({', '.join(_described(item, seen) for item in value)})"
    if isinstance(value, JITFunction):
        return _described_kernel(value, seen)
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type | FunctionType | BuiltinFunctionType) and _is_of_a_library(value):
        return f"{value.__module__}.{value.__qualname__}"
    raise _UnknownError(kind.__name__)


def _described_kernel(kernel: Any, seen: dict[int, int]) -> str:
    """The source of a kernel with the values of its names; one that was described before by its place.

    Raises:
        _UnknownError: it has methods of its own, which may read another source.
    """
    if id(kernel) in seen:
        return f"kernel {seen[id(kernel)]}"
    if type(kernel) is not JITFunction or any(callable(getattr(JITFunction, name, None)) for name in vars(kernel)):
        raise _UnknownError(type(kernel).__name__)
    seen[id(kernel)] = len(seen)
    text = kernel._src  # the text that Triton parses
    values = [] if _is_of_a_library(kernel.fn) else list(_values(text, _scope_of(kernel.fn), seen))
    return "\n".join((text, str(getattr(kernel, "noinline", False)), *values))


def _values(text: str, scope: Mapping[str, Any], seen: dict[int, int]) -> Iterator[str]:
    """The names of a function that its scope has, with their values."""
    for name, *attributes in _names_in(text):
        if name not in scope:
            continue
        value = scope[name]
        path = [name]
        for attribute in attributes:
            if not isinstance(value, ModuleType):
                break
            value = getattr(value, attribute)
            path.append(attribute)
        yield f"{'.'.join(path)} = {_described(value, seen)}"


def _names_in(text: str) -> tuple[tuple[str, ...], ...]:
    """The names that the body of a function reads and does not bind, each with the attributes that follow it."""
    if text not in _names_by_text:
        if len(_names_by_text) == _MOST_TEXTS:
            _names_by_text.clear()
        function = ast.parse(text).body[0]
        assert isinstance(function, ast.FunctionDef)
        bound = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        nodes = [node for statement in function.body for node in ast.walk(statement)]
        bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        paths = (_path(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner)
        _names_by_text[text] = tuple(sorted({path for path in paths if path and path[0] not in bound}))
    return _names_by_text[text]


def _path(node: ast.expr) -> tuple[str, ...]:
    """A name and the attributes behind it; () where they follow another expression."""
    if isinstance(node, ast.Name):
        return (node.id,)
    within = _path(node.value) if isinstance(node, ast.Attribute) else ()
    return (*within, node.attr) if within and isinstance(node, ast.Attribute) else ()


def _scope_of(function: Any) -> Mapping[str, Any]:
    """The global and the free variables of a plain Python function."""
    cells = function.__closure__ or ()
    free = {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}
    return ChainMap(free, function.__globals__)


def _is_of_a_library(value: Any) -> bool:
    """Whether a class or function is that of its name in a module of Triton or Python."""
    package = str(value.__module__).partition(".")[0]
    if package != "triton" and package not in sys.stdlib_module_names:
        return False
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return getattr(found, "fn", found) is value
