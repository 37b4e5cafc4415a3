"""Rules between the functions of a module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.errors import UnsupportedError
from engine.machine.ir import Function, Operation
from engine.machine.reader.rules.kit import RuleError, expect_types, require
from engine.machine.reader.rules.regions import types_of


def check_calls(functions: Mapping[str, Function]) -> None:
    """Require one public function, and calls of functions that exist, with their types.

    Raises:
        RuleError: a rule is broken.
        UnsupportedError: a function calls itself, directly or through others.
    """
    kernels = sum(function.is_public for function in functions.values())
    require(kernels == 1, f"expected one public function in the module, found {kernels}")
    callees: dict[str, list[str]] = {}
    for function in functions.values():
        callees[function.name] = []
        for operation in _calls(function):
            callee = operation.attributes.get("callee")
            if not isinstance(callee, str) or callee not in functions:
                raise RuleError(f"function {callee} is called but not defined")
            expect_types(types_of(operation.operands), types_of(functions[callee].arguments), f"arguments of {callee}")
            expect_types(types_of(operation.results), functions[callee].results, f"results of {callee}")
            callees[function.name].append(callee)
    _refuse_recursion(callees)


def _calls(function: Function) -> Iterator[Operation]:
    blocks = list(function.body.blocks)
    while blocks:
        for operation in blocks.pop().operations:
            if operation.name == "tt.call":
                yield operation
            for region in operation.regions:
                blocks.extend(region.blocks)


def _refuse_recursion(callees: dict[str, list[str]]) -> None:
    """Raise for recursion: remove functions that call no remaining one, until none remains."""
    callers: dict[str, list[str]] = {name: [] for name in callees}
    for name, called in callees.items():
        for callee in called:
            callers[callee].append(name)
    waiting = {name: len(called) for name, called in callees.items()}
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        name = ready.pop()
        del waiting[name]
        for caller in callers[name]:
            waiting[caller] -= 1
            if not waiting[caller]:
                ready.append(caller)
    if waiting:
        raise UnsupportedError(f"function {min(waiting)} is not supported: it is recursive")
