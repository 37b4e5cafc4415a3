"""Syntax trees, one at a time.

Two threads that parse at once make CPython 3.11 fail with a SystemError
(https://github.com/python/cpython/issues/106905), and warning filters belong to the whole process.
"""

from __future__ import annotations

import ast
import threading
import warnings

_PARSING = threading.Lock()


def parse(text: str | bytes, *, filename: str = "<unknown>") -> ast.Module:
    """The syntax tree of Python text; no warnings are printed about invalid escapes in it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename=filename)
