"""Python that kernels call, which runs where they are interpreted and nowhere else.

The interpreter runs the body of a kernel as Python, so that a helper may do the whole task there, by numpy on the
values behind a block, while what a device would be given is another kernel.  Only names are looked at, as Triton
resolves them; nothing of a kernel is called or evaluated.
"""

from __future__ import annotations

import dis
import functools
import math
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from triton.runtime.jit import KernelInterface

from engine.wire.observing import DeedKind, DeedSeen

# Kernels and what they name are strangers': Any throughout this file.

_BEHIND = "handle"
"""Behind what a block of the interpreter keeps its numbers; the compiler's has none."""
_MOST_FUNCTIONS, _MOST_TOLD = 64, 64
_MISSING = object()


class HostCode:
    """What the kernels that were launched call of Python."""

    def __init__(self) -> None:
        self._looked_at: set[CodeType] = set()
        self._seen: dict[tuple[str, int], None] = {}

    def look(self, kernel: Callable[..., Any]) -> None:
        """Look at the plain Python function of a kernel, and at the functions of Triton that it calls; once each."""
        waiting = [kernel]
        while waiting and len(self._looked_at) < _MOST_FUNCTIONS:
            function = waiting.pop()
            code = getattr(function, "__code__", None)
            if not isinstance(code, CodeType) or code in self._looked_at:
                continue
            self._looked_at.add(code)
            for name, line, value in _named(function, code):
                if isinstance(inner := _of_triton(value), FunctionType):
                    waiting.append(inner)
                elif value is _BEHIND or _is_python(value):
                    self._seen.setdefault((name, line))

    def seen(self) -> tuple[DeedSeen, ...]:
        """What was found up to now."""
        return tuple(
            DeedSeen(kind=DeedKind.HOST_CODE, detail=name[:200], line=line or None)
            for name, line in list(self._seen)[:_MOST_TOLD]
        )


def _named(function: Any, code: CodeType) -> Iterator[tuple[str, int, Any]]:
    """Every name that the code takes from outside, its line, and what it stands for; attributes are followed."""
    outside = {**function.__globals__, **_closure(function, code)}
    line, path, value = code.co_firstlineno, "", _MISSING
    for step in dis.get_instructions(code):
        line = _line(step) or line
        if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
            path, value = str(step.argval), outside.get(step.argval, _MISSING)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if step.argval == _BEHIND:
                yield f"{path}.{_BEHIND}" if path else _BEHIND, line, _BEHIND
            path, value = f"{path}.{step.argval}", _attribute(value, str(step.argval))
        elif step.opname not in ("PUSH_NULL", "CACHE"):
            path, value = "", _MISSING
            continue
        if value is not _MISSING:
            yield path, line, value


def _line(step: dis.Instruction) -> int | None:
    positions = step.positions
    return positions.lineno if positions is not None else None


def _closure(function: Any, code: CodeType) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    return values


def _attribute(owner: Any, name: str) -> Any:
    """The attribute without asking the owner, who may have code for that."""
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, _MISSING)
    if owner is _MISSING or _is_tritons(owner):
        return _MISSING
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    return next((vars(kind)[name] for kind in kinds if name in vars(kind)), _MISSING)


def _of_triton(value: Any) -> Any:
    """The plain function behind one that Triton compiles, or calls with constants."""
    for _ in range(8):  # an autotuner has heuristics, which have a kernel
        if not isinstance(value, KernelInterface) and not _is_tritons(type(value)):
            return None
        value = getattr(value, "fn", None)
        if isinstance(value, FunctionType):
            return value
    return None


def _is_tritons(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == "triton"


def _is_python(value: Any) -> bool:
    """Whether this is code that a device cannot run: no type, no constant, nothing of Triton's or of `math`."""
    if isinstance(value, type | ModuleType) or _is_tritons(value) or _is_tritons(type(value)) or _is_ours(value):
        return False
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType | staticmethod | classmethod):
        return getattr(value, "__module__", None) not in ("builtins", math.__name__)
    return callable(value)


def _is_ours(value: Any) -> bool:
    """What the worker puts in the place of what the interpreter lacks."""
    function = value.func if isinstance(value, functools.partial) else value
    code = function.__code__ if isinstance(function, FunctionType) else None
    return isinstance(code, CodeType) and code.co_filename.startswith(__file__.rpartition("/")[0])
