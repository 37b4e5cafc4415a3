"""What functions return, if it is an allocated tensor to which nothing was written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.static.analysis.scopes import Function
from engine.static.analysis.tensors import PASSES_ON, Flow, same_values
from engine.static.analysis.vocabulary import DESCRIBING

if TYPE_CHECKING:
    from engine.static.analysis.reading import Reading

_FILLING = frozenset({"fill_", "zero_"})


def untouched_outputs(
    reading: Reading, makers: frozenset[str], *, filled: bool = False
) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Returned values that one of `makers` allocated and nothing wrote to, with the call that allocated them.

    With `filled`, a tensor that is only filled with one value counts too.  Returns for empty inputs are left out, and
    so are functions whose result the file itself uses: those allocate for others.
    """
    used = used_here(reading) | _used_methods(reading)
    for function in reading.host(ast.FunctionDef):
        registered = bool(function.decorator_list) and function.name != reading.entry
        if reading.function(function) is not None or function.name in used or registered:
            continue
        flow = reading.tensors.flow(function)
        for value in flow.returns:
            made = _allocation(reading, flow, value, makers, filled=filled)
            if made is not None and not _is_guarded(reading, value) and not _is_touched(reading, flow, value):
                yield value, made


def used_here(reading: Reading, *, through_variables: bool = False) -> set[str]:
    """Functions whose result is used elsewhere than by the caller: workspaces, counters, packed weights.

    With `through_variables`, a result that is returned by way of a variable counts as returned to the caller.
    """
    used = {
        definition.name
        for node, names in reading.uses
        if any(name.startswith(".") for name in names) and not _is_returned(reading, node, through_variables)
        for definition in reading.definitions(node.func if isinstance(node, ast.Call) else node)
    }
    return used - {reading.entry or ""}


def _used_methods(reading: Reading) -> set[str]:
    """Methods of this file's classes whose result is used for more than being returned."""
    methods = {node.name for node in reading.all(ast.FunctionDef) if isinstance(reading.parent(node), ast.ClassDef)}
    called = {
        call.func.attr
        for call in reading.host(ast.Call)
        if isinstance(call.func, ast.Attribute) and not _is_returned(reading, call, through_variables=False)
    }
    return called & methods - {reading.entry or ""}


def _is_returned(reading: Reading, node: ast.expr, through_variables: bool) -> bool:
    above, function = reading.parent(node), reading.function(node)
    if isinstance(above, ast.Assign) and through_variables and function is not None:
        flow = reading.tensors.flow(function)
        return bool({flow.group(target.id) for target in above.targets if isinstance(target, ast.Name)} & flow.returned)
    return isinstance(above, ast.Return)


def _allocation(
    reading: Reading, flow: Flow, value: ast.expr, makers: frozenset[str], *, filled: bool
) -> ast.Call | None:
    for node in (value, *(item for name in set(same_values(value)) for item in flow.values_of.get(name, ()))):
        made, fills = _maker(reading, node)
        if made is None:
            continue
        name = made.func.attr if isinstance(made.func, ast.Attribute) else getattr(made.func, "id", "")
        names = {one.rpartition(".")[2] for one in reading.names.of(made.func)} | {name}
        if names & makers or (
            filled and name.startswith(("empty", "new_empty")) and (fills or _is_filled(reading, flow, value))
        ):
            return made
    return None


def _maker(reading: Reading, node: ast.expr) -> tuple[ast.Call | None, bool]:
    """The call at the bottom of a chain of views, casts and fills."""
    fills = False
    while True:
        same = isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data")
        if isinstance(node, ast.Subscript) or (same and isinstance(node, ast.Attribute)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if any(name.count(".") == 1 and name.startswith("torch.") for name in reading.names.of(node.func)):
                return node, fills
            if node.func.attr.rstrip("_") not in PASSES_ON:
                return (node, fills) if node.func.attr.startswith("new_") else (None, fills)
            fills |= node.func.attr in _FILLING
            node = node.func.value
        else:
            return (node if isinstance(node, ast.Call) else None), fills


def _is_filled(reading: Reading, flow: Flow, value: ast.expr) -> bool:
    """Whether a variable with these values is filled with one value."""
    for use in flow.uses(flow.groups(value)):
        above = reading.parent(use)
        if isinstance(above, ast.Attribute) and above.attr in _FILLING:
            return True
    return False


def _is_touched(reading: Reading, flow: Flow, value: ast.expr) -> bool:
    """Whether a variable with these values is passed to a call, written to, or stored somewhere."""
    return any(_touches(reading, use) for use in flow.uses(flow.groups(value)))


def _touches(reading: Reading, use: ast.Name) -> bool:
    below: ast.AST = use
    for above in reading.ancestors(use):
        match above:
            case ast.Return() | ast.Delete():
                return False
            case ast.Assign():
                return not all(isinstance(target, ast.Name | ast.Tuple) for target in above.targets)
            case ast.Attribute(attr=attribute):
                called = reading.parent(above)
                if not isinstance(called, ast.Call) or called.func is not above:
                    return False
                if attribute in _FILLING or attribute in DESCRIBING or attribute.startswith("new_"):
                    return False
                if attribute.endswith("_") or attribute not in PASSES_ON:
                    return True
            case ast.Call(func=function) if function is not below:
                return _may_write(reading, above)
            case ast.Subscript(value=held) if held is below and isinstance(above.ctx, ast.Store):
                return True
            case ast.comprehension(iter=held) if held is below:
                return True  # it is bound to another name there, which may be written to
            case ast.Compare() | ast.If() | ast.stmt():
                return isinstance(above, ast.AugAssign)
        below = above
    return False


def _may_write(reading: Reading, call: ast.Call) -> bool:
    harmless = ("builtins.", "torch.empty_like", "torch.zeros_like")
    return not any(name.startswith(harmless) and ")" not in name for name in reading.names.of(call.func))


def _is_guarded(reading: Reading, value: ast.expr) -> bool:
    """Whether the return is in a branch for empty input: == 0, not x.numel(), 0 in shape, <= 0."""
    below: ast.AST = value
    for above in reading.ancestors(value):
        if isinstance(above, Function):
            return False
        if isinstance(above, ast.If | ast.IfExp):
            parts = list(ast.walk(above.test))
            asks_zero = any(isinstance(part, ast.Constant) and part.value == 0 for part in parts)
            if asks_zero or any(isinstance(part, ast.Not) for part in parts):
                return True
            in_else = below in above.orelse if isinstance(above, ast.If) else below is above.orelse
            if in_else and any(isinstance(part, ast.Call) for part in parts):
                return True  # `if x.numel(): ... else: return torch.zeros(...)`
        below = above
    return False
