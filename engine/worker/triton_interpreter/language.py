"""Triton's language in the interpreter's form, for interpreting a kernel in a process that compiles others.

Triton decides at its import whether kernels are interpreted.  Here they are `JITFunction`s, and so are the functions of
its library: within the scope each call of one is interpreted.  Everything is restored afterwards, as the frontend needs
the language unchanged.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from engine.worker.triton_interpreter import libdevice

# Triton's interpreter is not typed: its arguments and results are Any throughout this file.

_ABSENT = object()
_patch_lang = triton_interpreter._patch_lang  # Triton's own version, before any patch


def interpreted(kernel: Any) -> Any:
    """The interpreted form of a `JITFunction`."""
    # By its plain function: the hash of a JITFunction walks all that it refers to, which fails in a patched language.
    return _interpreted_function(kernel.fn)


@functools.lru_cache(maxsize=1024)
def _interpreted_function(function: Callable[..., Any]) -> Any:
    return InterpretedFunction(function)


@contextlib.contextmanager
def interpreting() -> Iterator[None]:
    """Context in which kernels, and the functions of Triton that they call, can be interpreted."""
    scope = _Scope()
    try:
        scope.open()
        yield
    finally:
        scope.close()


class _Scope:
    """Changed attributes, in order, so that they can be restored."""

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()
        self._patched: set[frozenset[int]] = set()
        self._renewed: set[tuple[int, int]] = set()
        self._originals: dict[int, str] = {}

    def open(self) -> None:
        """Patch the parts of Triton's interpreter that all kernels share."""
        # Read before the first patch, to find names such as `exp = tl.exp` that are bound to the original.
        self._originals = {id(value): name for name, value in vars(tl).items() if callable(value)}
        self._set(JITFunction, "__call__", lambda kernel, *args, **kwargs: interpreted(kernel)(*args, **kwargs))
        for name, value in list(vars(tl.tensor).items()):
            if isinstance(value, JITFunction):
                self._set(tl.tensor, name, _member(value))
        for module, name, function in libdevice.functions():
            self._set(module, name, function)
        self._set(triton_interpreter, "_patch_lang", self._patch)

    def close(self) -> None:
        """Restore everything."""
        self._undo.close()

    def _patch(self, function: Any) -> _PermanentScope:
        """Apply Triton's own patch of its language, once per scope: before every call it would take 5 ms."""
        languages = {id(tl), id(tl.core)}  # by id: comparing an array with == returns an array
        visible = frozenset(languages.intersection(map(id, list(function.__globals__.values()))))
        if not visible or visible not in self._patched:
            self._undo.callback(_remove_others, tl.tensor, frozenset(vars(tl.tensor)))
            self._undo.callback(_patch_lang(function).restore)
            self._patched.add(visible)
            # Triton 3.6 calls int(data), which numpy 2.4 and later only accepts for a 0-d array.
            self._set(tl.tensor, "__index__", lambda scalar: int(scalar.handle.data.squeeze()))
        self._renew(function.__globals__)
        return _PermanentScope()

    def _renew(self, names: dict[str, Any]) -> None:
        if (id(names), len(names)) in self._renewed:
            return
        self._renewed.add((id(names), len(names)))
        held = {name: of for name, of in tuple(names.items()) if id(of) in self._originals}
        self._undo.callback(names.update, held)
        names.update({name: getattr(tl, self._originals[id(of)]) for name, of in held.items()})

    def _set(self, owner: Any, name: str, value: Any) -> None:
        self._undo.callback(_put_back, owner, name, vars(owner).get(name, _ABSENT))
        setattr(owner, name, value)


class _PermanentScope:
    """Replaces Triton's patch scope, and restores nothing."""

    def restore(self) -> None:
        pass


def _member(kernel: Any) -> Callable[..., Any]:
    def called(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return kernel(tensor, *args, **kwargs)

    return called


def _remove_others(owner: type, names: frozenset[str]) -> None:
    """Remove all other attributes of a class: Triton restores inherited ones as its own."""
    for name in set(vars(owner)) - names:
        delattr(owner, name)


def _put_back(owner: Any, name: str, value: Any) -> None:
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
