"""Free variables of a kernel's function and their values, which distinguish kernels made from the same source text.

A factory makes several kernels with one name and one line.  The worker that launches one and the compiler that has
loaded the file again identify each by its closure: constants by value, functions by name and line, with their own
closures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

_MOST_CHARACTERS = 200
_MOST_DEPTH = 4
_PLAIN = (bool, int, float, str, type(None))


def closure_of(function: Callable[..., Any]) -> str:  # Any: kernels take everything
    """The closure of a plain Python function as text, "" without one; a long text is replaced by its digest."""
    text = _closure(function, _MOST_DEPTH)
    if len(text) <= _MOST_CHARACTERS:
        return text
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def identity_of(function: Callable[..., Any]) -> str:  # Any: kernels take everything
    """Name, line and closure of a plain Python function, unique in its file: "relu:12(scale=2.0)"."""
    within = closure_of(function)
    return f"{function.__name__}:{function.__code__.co_firstlineno}" + (f"({within})" if within else "")


def _closure(function: Any, depth: int) -> str:
    cells, code = getattr(function, "__closure__", None), getattr(function, "__code__", None)
    if not cells or code is None or depth == 0:
        return ""
    return ", ".join(f"{name}={_content(cell, depth)}" for name, cell in zip(code.co_freevars, cells, strict=True))


def _content(cell: Any, depth: int) -> str:
    try:
        value = cell.cell_contents
    except ValueError:
        return "empty"
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    function = getattr(value, "fn", value)
    code = getattr(function, "__code__", None)
    if code is not None:
        within = _closure(function, depth - 1)
        return f"{function.__name__}:{code.co_firstlineno}" + (f"({within})" if within else "")
    return repr(value) if isinstance(value, _PLAIN) else type(value).__name__
