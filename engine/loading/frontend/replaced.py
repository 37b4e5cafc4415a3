"""Whether a candidate has replaced functions of Triton's frontend in this process."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

# Modules and classes have any value: Any throughout this file.

_FRONTEND = ("triton.compiler", "triton.language", "triton.runtime.jit")


class FrontendFunctions:
    """The functions of Triton's frontend, of its classes, and of Python's parser, as they are when this is made."""

    def __init__(self) -> None:
        modules = [module for name, module in sys.modules.items() if name.startswith(_FRONTEND)]
        self._owners: tuple[Any, ...] = (*modules, ast)
        self._functions = tuple(self._now())

    def are_replaced(self) -> bool:
        """Whether one of them is another one now."""
        now = tuple(self._now())
        return len(now) != len(self._functions) or any(
            one is not other for one, other in zip(now, self._functions, strict=True)
        )

    def _now(self) -> Iterator[object]:
        for owner in self._owners:
            for value in tuple(vars(owner).values()):
                for held in tuple(vars(value).values()) if isinstance(value, type) else (value,):
                    if isinstance(held, FunctionType):
                        yield from (held, held.__code__)
                    elif isinstance(held, property):
                        yield held
