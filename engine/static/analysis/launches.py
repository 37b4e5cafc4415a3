"""Launches of kernels, and the arguments that they write."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.static.analysis.code_index import CodeIndex
from engine.static.analysis.scopes import Function, parameters_of
from engine.static.analysis.words import words

_STORES = words(
    "store atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor atomic_store "
    "store_tensor_descriptor async_tma_store"
)
_HARMLESS = words(
    "load arange zeros full where dot sum max min exp log sqrt rsqrt cdiv program_id num_programs maximum minimum "
    "cumsum range static_range multiple_of max_contiguous to int float len sigmoid abs"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class LaunchSite:
    """One call that launches a kernel.  `written` are the arguments that it may write to."""

    call: ast.Call
    kernels: tuple[Function, ...]
    arguments: tuple[ast.expr, ...]
    written: tuple[ast.expr, ...]


class Launches:
    """The launches of a reading; each kernel is analysed once."""

    def __init__(self, reading: CodeIndex) -> None:
        self._reading = reading
        self._written: dict[Function, frozenset[str]] = {}
        self._writes: dict[Function, list[tuple[ast.Call, tuple[ast.expr, ...]]]] = {}
        self.sites: tuple[LaunchSite, ...] = tuple(
            self._site(call) for call in reading.all(ast.Call) if reading.is_host(call) and self.is_launch(call)
        )
        self.by_function: dict[Function | None, list[LaunchSite]] = {}
        for site in self.sites:
            self.by_function.setdefault(reading.function(site.call), []).append(site)

    def is_launch(self, call: ast.Call) -> bool:
        """Whether this is `kernel[grid](...)`, under any name."""
        names = self._reading.names.of(call.func)
        if any(name.endswith("[]") for name in names):
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr == "run":
            return bool(self._reading.kernels.intersection(self._reading.definitions(call.func.value)))
        return isinstance(call.func, ast.Subscript) and not names

    def written_parameters(self, kernel: Function, depth: int = 4) -> frozenset[str]:
        """The parameters of a kernel that it may store to, helpers included."""
        if kernel not in self._written:
            parameters = frozenset(_parameters(kernel))
            self._written[kernel] = frozenset()  # ends the recursion of a kernel that calls itself
            self._written[kernel] = parameters & self._stored(kernel, depth)
        return self._written[kernel]

    @cached_property
    def launching(self) -> set[Function]:
        """The functions of the host code that launch a kernel, directly or through others of this file."""
        found: set[Function] = {function for function in self.by_function if function is not None}
        callers: dict[Function, set[Function]] = {}
        for call in self._reading.host(ast.Call):
            around = self._reading.function(call)
            if around is not None:
                for called in self._called(call):
                    callers.setdefault(called, set()).add(around)
        waiting = list(found)
        while waiting:
            for caller in callers.get(waiting.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    waiting.append(caller)
        return found

    def writes(self, function: Function) -> list[tuple[ast.Call, tuple[ast.expr, ...]]]:
        """Calls in a function after which a kernel may have written to these arguments, directly or indirectly."""
        if function not in self._writes:
            self._writes[function] = self._find_writes(function)
        return self._writes[function]

    def _find_writes(self, function: Function) -> list[tuple[ast.Call, tuple[ast.expr, ...]]]:
        found = [(site.call, site.written) for site in self.by_function.get(function, ())]
        calls = self._calls_by_function.get(function, ())
        launching = [call for call in calls if self.launching.intersection(self._called(call))]
        return [*found, *((call, (*call.args, *(item.value for item in call.keywords))) for call in launching)]

    @cached_property
    def _calls_by_function(self) -> dict[Function | None, list[ast.Call]]:
        found: dict[Function | None, list[ast.Call]] = {}
        for call in self._reading.host(ast.Call):
            found.setdefault(self._reading.function(call), []).append(call)
        return found

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for node in self._reading.all(ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
        return found

    def _called(self, call: ast.Call) -> list[Function]:
        found = self._reading.definitions(call.func)
        if not found and isinstance(call.func, ast.Attribute):
            return self._methods.get(call.func.attr, [])
        return found

    def _site(self, call: ast.Call) -> LaunchSite:
        holder = call.func.value if isinstance(call.func, ast.Subscript | ast.Attribute) else call.func
        kernels = tuple(node for node in self._reading.definitions(holder) if node in self._reading.kernels)
        arguments = (*call.args, *(keyword.value for keyword in call.keywords))
        written = tuple(self._written_arguments(call, kernels)) if kernels else arguments
        return LaunchSite(call=call, kernels=kernels, arguments=arguments, written=written)

    def _written_arguments(self, call: ast.Call, kernels: tuple[Function, ...]) -> Iterator[ast.expr]:
        for kernel in kernels:
            written = self.written_parameters(kernel)
            for place, argument in enumerate(call.args):
                reachable = _reachable(kernel, call, place)
                if reachable is None or written.intersection(reachable):
                    yield argument
            yield from (item.value for item in call.keywords if item.arg is None or item.arg in written)

    def _stored(self, kernel: Function, depth: int) -> set[str]:
        """The variables through which a kernel stores, and those whose address they may have."""
        found: set[str] = set()
        sources: dict[str, set[str]] = {}
        for node in self._reading.inside(kernel):
            if isinstance(node, ast.Assign):
                _add_sources(node, sources)
            elif isinstance(node, ast.Call):
                found |= self._stored_by(kernel, node, depth)
        waiting, reached = [*found], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += sources.get(name, ())
        return reached

    def _stored_by(self, kernel: Function, call: ast.Call, depth: int) -> set[str]:
        """The variables through which this call in a kernel may store; helpers are followed `depth` levels."""
        last = _last(call.func)
        if last in _STORES:
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            places = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "pointer")]
            return {name for place in (*places, holder) for name in _pointers(place)}
        if last in _HARMLESS or depth == 0:
            return set()
        helpers = [node for node in self._reading.definitions(call.func) if node in self._reading.kernels]
        helpers = helpers or self._handed_on(kernel, last)
        if helpers:
            stored: set[str] = set()
            for helper in helpers:
                written, parameters = self.written_parameters(helper, depth - 1), _parameters(helper)
                pairs = [*zip(parameters, call.args, strict=False)]
                pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
                stored |= {found for name, value in pairs if name in written for found in _pointers(value)}
            return stored
        names = tuple(self._reading.names.of(call.func))
        known = any(name.startswith(("triton.", "tl.", "builtins.")) for name in names)
        # A function of another file whose value is used: what it gets is read for that.
        computes = bool(names) and not isinstance(self._reading.parent(call), ast.Expr)
        return _names(call.args) if not (known or computes) or "asm" in last else set()

    def _handed_on(self, kernel: Function, parameter: str) -> list[Function]:
        """The helpers that a kernel gets for a parameter that it calls; none if one of them is unknown."""
        parameters = _parameters(kernel)
        if parameter not in parameters:
            return []
        place, found = parameters.index(parameter), list[Function]()
        for call in self._calls_of.get(kernel, ()):
            handed = [item.value for item in call.keywords if item.arg == parameter]
            if not handed and not any(isinstance(item, ast.Starred) for item in call.args[: place + 1]):
                handed = call.args[place : place + 1]
            definitions = self._reading.definitions(handed[0] if handed else None)
            helpers = [node for node in definitions if node in self._reading.kernels]
            if not helpers:
                return []
            found += helpers
        return found

    @cached_property
    def _calls_of(self) -> dict[Function, list[ast.Call]]:
        """Every launch and call of the kernels of this file."""
        found: dict[Function, list[ast.Call]] = {}
        for call in self._reading.all(ast.Call):
            holder = call.func.value if isinstance(call.func, ast.Subscript | ast.Attribute) else call.func
            for node in self._reading.definitions(holder):
                found.setdefault(node, []).append(call)
        return found


def _add_sources(node: ast.Assign, sources: dict[str, set[str]]) -> None:
    """Add to `sources`, by the assigned variables, those whose address they may have."""
    for target in node.targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                sources.setdefault(part.id, set()).update(_pointers(node.value))


def _parameters(kernel: Function) -> list[str]:
    return [parameter.arg for parameter, _ in parameters_of(kernel.args)]


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _pointers(node: ast.expr | None) -> set[str]:
    """The base variables of an address: the first term of a sum."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return _pointers(node.left) or _pointers(node.right)
        case ast.IfExp():
            return _pointers(node.body) | _pointers(node.orelse)
        case ast.Tuple() | ast.List():
            return {name for item in node.elts for name in _pointers(item)}
        case ast.Subscript():
            return _pointers(node.value)
        case ast.Call(func=ast.Attribute(attr="load" | "arange" | "program_id")):
            return set()
        case ast.Call():
            base = next((keyword.value for keyword in node.keywords if keyword.arg in ("base", "pointer")), None)
            method = node.func.value if isinstance(node.func, ast.Attribute) else None
            return _pointers(base or (node.args[0] if node.args else None)) | _pointers(method)
    return set()


def _names(nodes: list[ast.expr]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _reachable(kernel: Function, call: ast.Call, place: int) -> Sequence[str] | None:
    """The parameters that the positional argument at this place can be passed to; None if there are none for it.

    Behind the last starred argument they are passed to the last parameters, where none has a default.
    """
    parameters = _parameters(kernel)
    starred = [number for number, argument in enumerate(call.args) if isinstance(argument, ast.Starred)]
    if not starred or place < starred[0]:
        return parameters[place : place + 1] or None
    keywords = {keyword.arg for keyword in call.keywords}
    if place <= starred[-1] or None in keywords or kernel.args.defaults:
        return parameters[place:]
    chosen = _chosen_constants(kernel)
    left = [name for name in parameters if name not in keywords and name not in chosen]
    behind = len(call.args) - place
    return left[len(left) - behind :][:1] if behind <= len(left) else parameters[place:]


def _chosen_constants(kernel: Function) -> set[str]:
    """The constants of a kernel that another decorator than that of Triton's compiler, such as autotune, may choose."""
    if len(kernel.decorator_list) < 2:
        return set()
    parameters = [one for one, _ in parameters_of(kernel.args)]
    return {one.arg for one in parameters if one.annotation is not None and "constexpr" in ast.unparse(one.annotation)}
