"""Which values become the answer of a call, or a part of it."""

from __future__ import annotations

import ast

from engine.static.analysis.reading import Reading
from engine.static.analysis.scopes import Function
from engine.static.analysis.tensors import Origin, value_names
from engine.static.analysis.vocabulary import DESCRIBING, REDUCING

_CASTS = ("to", "float", "double", "half", "bfloat16", "type")
_PART = ast.Name(id="\0", ctx=ast.Load())
"""In place of a part of an expression: no source has this name."""


def becomes_the_answer(reading: Reading, node: ast.expr) -> bool:
    """Whether the value of an expression is written to an output, or returned as the answer or a part of it.

    Small reductions of what a kernel wrote do not count: a kernel may leave a partial result to each of its programs.
    """
    function, statement = reading.function(node), reading.statement(node)
    if function is None or statement is None or _finishes_partial_results(reading, node):
        return False
    flow = reading.tensors.flow(function)
    if is_written_out(reading, node, flow.answer | set(flow.parameters)):
        return True
    if not _passes_upwards(reading, node, statement) or not _returns_an_answer(reading, function):
        return False
    if isinstance(statement, ast.Return):
        return True
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in flow.answer for target in statement.targets)
    return False


def is_written_out(reading: Reading, node: ast.expr, outputs: set[str]) -> bool:
    """Whether the result is written to a tensor that is the answer: out=y, y.copy_(...), y[...] = ..., y.mul_(2)."""
    if isinstance(node, ast.Call):
        out = [keyword.value for keyword in node.keywords if keyword.arg == "out"]
        if any(name in outputs for value in out for name in value_names(value)):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_") and not node.func.attr.endswith("__"):
            return any(name in outputs for name in value_names(node.func.value))
    above = reading.parent(node)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "copy_":
        return any(name in outputs for name in value_names(above.func.value))
    if isinstance(above, ast.Assign) and above.value is node:
        held = [target.value for target in above.targets if isinstance(target, ast.Subscript)]
        return any(name in outputs for value in held for name in value_names(value))
    return False


def _returns_an_answer(reading: Reading, function: Function, known: set[Function] | None = None) -> bool:
    """Whether what a function returns may be a part of the answer; not if callers only launch kernels with it.

    `known` are functions that were followed before, each of which is followed once.
    """
    known = set() if known is None else known
    if function in known:
        return False
    known.add(function)
    is_helper = reading.parent(function) is reading.tree and not function.decorator_list
    if reading.entry is None or function.name == reading.entry or not is_helper:
        return True
    used = [name for name in reading.host(ast.Name) if name.id == function.name and isinstance(name.ctx, ast.Load)]
    return not used or any(_is_kept_for_the_answer(reading, name, known) for name in used)


def _is_kept_for_the_answer(reading: Reading, used: ast.Name, known: set[Function]) -> bool:
    """Whether a use of a function is no call, or one whose result may be a part of the answer."""
    call, statement, caller = reading.parent(used), reading.statement(used), reading.function(used)
    if not isinstance(call, ast.Call) or call.func is not used or statement is None or caller is None:
        return True
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            loads = (one for one in reading.host(ast.Name) if one.id == name and isinstance(one.ctx, ast.Load))
            here = [one for one in loads if reading.function(one) is caller]
            return not all(_is_described(reading, one) or _is_launched_with(reading, one) for one in here)
        case ast.Return():
            return _returns_an_answer(reading, caller, known)
    return True


def _is_described(reading: Reading, used: ast.Name) -> bool:
    """Whether only the shape or another description of a tensor is read."""
    above = reading.parent(used)
    return isinstance(above, ast.Attribute) and (above.attr == "shape" or above.attr in DESCRIBING)


def _is_launched_with(reading: Reading, used: ast.Name) -> bool:
    """Whether a statement that only launches a kernel gets a variable."""
    match reading.statement(used):
        case ast.Expr(value=ast.Call(func=ast.Subscript())):
            return True
    return False


def _passes_upwards(reading: Reading, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether the value of the statement depends on the value of the expression, and not only on its size."""
    below: ast.AST = node
    for above in reading.ancestors(node):
        if above is statement:
            return getattr(statement, "value", None) is below
        if not _passes_on(above, below):
            return False
        below = above
    return False


def _passes_on(above: ast.AST, below: ast.AST) -> bool:
    """Whether the value of an expression depends on the value of one of its parts."""
    match above:
        case ast.IfExp(test=test):
            return test is not below
        case ast.BinOp() | ast.UnaryOp() | ast.Tuple() | ast.List() | ast.Starred() | ast.BoolOp():
            return True
        case ast.Subscript(value=value):
            return value is below
        case ast.Attribute(attr=attribute):
            of_part = ast.Attribute(value=_PART, attr=attribute, ctx=ast.Load())
            return _PART.id in (*value_names(of_part), *value_names(ast.Call(func=of_part, args=[], keywords=[])))
        case ast.Call(func=function):
            return function is below or _PART.id in value_names(ast.Call(func=function, args=[_PART], keywords=[]))
    return False


def _finishes_partial_results(reading: Reading, node: ast.expr) -> bool:
    """Whether this is a small reduction of a tensor that a kernel wrote, or arithmetic on such results alone."""
    function = reading.function(node)
    return function is not None and _finishes(reading, function, node, set())


def _finishes(reading: Reading, function: Function, node: ast.expr, known: set[str]) -> bool:
    """As `_finishes_partial_results`; `known` are the variables already followed, each of which is followed once."""
    parts: list[ast.expr] = []
    match node:
        case ast.Call(func=ast.Attribute(attr=attribute)) if attribute in REDUCING:
            return _reduces_what_a_kernel_left(reading, function, node)
        case ast.Call(func=ast.Attribute(value=held, attr=attribute)) if attribute in _CASTS:
            parts = [held]
        case ast.BinOp(left=left, right=right):
            parts = [side for side in (left, right) if reading.tensors.origin(side) is not Origin.UNKNOWN]
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.Name(id=name):
            if name in known:
                return True
            known.add(name)
            parts = [value for target, value in reading.tensors.flow(function).assignments if target == name]
    return bool(parts) and all(_finishes(reading, function, part, known) for part in parts)


def _reduces_what_a_kernel_left(reading: Reading, function: Function, node: ast.Call) -> bool:
    """Whether a call reduces a tensor that the function allocated and one of its launches wrote."""
    if not isinstance(node.func, ast.Attribute):
        return False
    flow = reading.tensors.flow(function)
    held = node.func.value if not reading.names.of(node.func.value) & {"torch"} else next(iter(node.args), None)
    written = {
        group
        for site in reading.launches.by_function.get(function, ())
        for item in site.written
        for group in flow.groups(item)
    }
    return reading.tensors.origin(held) is Origin.OWN and bool(flow.groups(held) & written)
