"""Python that kernels call, which runs where they are interpreted and nowhere else.

The interpreter runs the body of a kernel as Python, so that a helper may do the whole task there, by numpy on the
values behind a block, while what a device would be given is another kernel.  Only names are looked at, as Triton
resolves them; nothing of a kernel is called or evaluated.
"""

from __future__ import annotations

import array
import builtins
import dis
import enum
import functools
import math
import os
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import getattr_static
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime.jit import KernelInterface

from engine.protocol.monitoring import ActionKind, ActionSeen

# Kernels and what they name are strangers': Any throughout this file.

_BEHIND = "handle"
"""Behind what a block of the interpreter keeps its numbers; the compiler's has none."""
_REACHING = (getattr, setattr, vars, eval, exec, globals, locals, compile, __import__, open)
"""Functions of Python's own that lead to what a device has not."""
_HOLDING = (list, dict, set, bytearray, array.array, np.ndarray, torch.Tensor)
"""What holds content that can be another in every call; Triton takes none of it as a constant."""
_CONSTANT = (int, float, list, tuple, tl.constexpr)
_KNOWN_TYPES = frozenset({"builtins", "torch", "triton"})
_HINTS = ("multiple_of", "max_contiguous", "max_constancy")
"""Of these the interpreter makes what holds a value beside what is called."""
_IS_NEXT = frozenset({"PUSH_NULL", "CACHE"})
_TRITON = f"{Path(triton.__file__).parent}{os.sep}"
_ENGINE = f"{Path(__file__).parents[3]}{os.sep}"  # whose wrappers some of Triton's types have
_Named: TypeAlias = "tuple[tuple[str, int, Any], ...]"
"""A name, its line, and what it stands for."""
_MOST_FUNCTIONS, _MOST_REPORTED = 64, 64
_MISSING = object()


class HostCode:
    """What the kernels that were launched call of Python."""

    def __init__(self) -> None:
        self._first: dict[CodeType, _Named] = {}
        self._seen: dict[tuple[str, int], None] = {}

    def look(self, kernel: Callable[..., Any], arguments: Mapping[str, Any] | None = None) -> tuple[object, ...]:
        """Look at what a launched kernel, the kernels that it calls, and its arguments bring in of Python.

        Constants that its names represent are returned where they are not what they were at the first launch: a
        device is given them once, when the kernel is compiled.
        """
        waiting, met = [kernel], set[CodeType]()
        for name, value in (arguments or {}).items():
            if isinstance(inner := _of_triton(value), FunctionType):
                waiting.append(inner)
            elif isinstance(value, np.ndarray) or _is_python(value):
                self._seen.setdefault((name, kernel.__code__.co_firstlineno))
        news: list[object] = []
        while waiting and len(met) < _MOST_FUNCTIONS:
            function = waiting.pop()
            code = getattr(function, "__code__", None)
            if not isinstance(code, CodeType) or code in met or _is_tritons(function):
                continue
            met.add(code)
            named = tuple(_named(function, code))
            first = self._first.get(code)
            if first is None or not _are_the_same(named, first):
                news += () if first is None else (value for _, _, value in named if isinstance(value, _CONSTANT))
                self._note(named)
            self._first.setdefault(code, named)
            waiting += (inner for *_, value in named if isinstance(inner := _of_triton(value), FunctionType))
        return tuple(news)

    def _note(self, named: _Named) -> None:
        for name, line, value in named:
            is_held = isinstance(value, _HOLDING) or ("." not in name and _is_object(value))
            if value is _BEHIND or is_held or _is_python(value):
                self._seen.setdefault((name, line))

    def seen(self) -> tuple[ActionSeen, ...]:
        """What was found up to now."""
        return tuple(
            ActionSeen(kind=ActionKind.HOST_CODE, detail=name[:200], line=line or None)
            for name, line in list(self._seen)[:_MOST_REPORTED]
        )


def _named(function: Any, code: CodeType) -> Iterator[tuple[str, int, Any]]:
    """Every name that the code takes from outside, its line, and what it represents; attributes are followed."""
    outside = _outside(function, code)
    for names, line, is_of_module in _paths(code):
        value = _resolved(outside, names)
        path = ".".join(name for name in names if name)
        if len(names) > 1 and (names[-1] == _BEHIND or _is_dunder(names[-1])):
            yield path, line, _BEHIND
        if value is getattr and is_of_module and isinstance(_resolved(outside, is_of_module), ModuleType):
            continue
        if value is not _MISSING:
            yield path, line, value


def _are_the_same(named: _Named, others: _Named) -> bool:
    return len(named) == len(others) and all(one[2] is other[2] for one, other in zip(named, others, strict=True))


@functools.lru_cache(maxsize=1024)
def _paths(code: CodeType) -> tuple[tuple[tuple[str, ...], int, tuple[str, ...]], ...]:
    """Every name that the code takes from outside, followed by attributes, its line, and the name that comes next.

    What is inside, such as an argument, has an empty name.
    """
    found: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = []
    for part in _codes(code):
        steps = [step for step in dis.get_instructions(part) if step.opname not in _IS_NEXT]
        line = part.co_firstlineno
        path: tuple[str, ...] = ("",)
        for step, then in zip(steps, (*steps[1:], None), strict=True):
            line = _line(step) or line
            if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
                path = (str(step.argval),)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                path = (*path, str(step.argval))
            else:
                path = ("",)
                continue
            is_name = then is not None and then.opname == "LOAD_GLOBAL"
            found.append((path, line, (str(then.argval),) if then is not None and is_name else ()))
    return tuple(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code and what is defined in it: a comprehension is a function of its own."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _outside(function: Any, code: CodeType) -> Mapping[str, Any]:
    return ChainMap(_closure(function, code), function.__globals__, vars(builtins))


def _resolved(outside: Mapping[str, Any], names: Sequence[str]) -> Any:
    value = outside.get(names[0], _MISSING)
    for name in names[1:]:
        value = _attribute(value, name)
    return value


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


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
    if owner is _MISSING:
        return _MISSING
    return vars(owner).get(name, _MISSING) if isinstance(owner, ModuleType) else getattr_static(owner, name, _MISSING)


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
    """Whether this is Triton's: by the file of the code, for the name of its module is what somebody says."""
    if isinstance(value, FunctionType):
        return value.__code__.co_filename.startswith(_TRITON)
    if not isinstance(value, type):
        return False
    methods = (method for method in vars(value).values() if isinstance(method, FunctionType))
    return value.__module__.partition(".")[0] == "triton" and all(
        method.__code__.co_filename.startswith((_TRITON, _ENGINE, "<string>")) for method in methods
    )


def _is_python(value: Any) -> bool:
    """Whether this is code that a device cannot run: no constant, nothing of Triton's or of `math`."""
    if type(value) is functools.partial:
        return _is_python(value.func) or not any(value is vars(of).get(name) for of in (tl, tl.core) for name in _HINTS)
    if isinstance(value, type):
        return not _is_tritons(value) and _is_made_by_python(value)
    if isinstance(value, ModuleType) or _is_tritons(value) or _is_tritons(type(value)) or _is_ours(value):
        return False
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ not in (builtins, math) or any(value is one for one in _REACHING)
    return callable(value) or isinstance(value, staticmethod | classmethod)


def _is_object(value: Any) -> bool:
    """Whether this is an object of a type that is nobody's whom a device knows; it may hold anything."""
    kind = type(value)
    if isinstance(value, type | tuple | enum.Enum | ModuleType | FunctionType) or _is_tritons(kind):
        return False
    return kind.__module__.partition(".")[0] not in _KNOWN_TYPES


def _is_made_by_python(kind: type) -> bool:
    """Whether to make an object of a type is code that a device cannot run; tuples with names are none."""
    if issubclass(kind, tuple | enum.Enum) or "__triton_aggregate__" in vars(kind):
        return False
    if kind.__module__.partition(".")[0] in _KNOWN_TYPES:
        return False
    return kind.__init__ is not object.__init__ or kind.__new__ is not object.__new__


def _is_ours(value: Any) -> bool:
    """What the worker puts in the place of what the interpreter lacks."""
    code = value.__code__ if isinstance(value, FunctionType) else None
    return isinstance(code, CodeType) and code.co_filename.startswith(_ENGINE)
