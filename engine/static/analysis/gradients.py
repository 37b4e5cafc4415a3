"""Code that only computes gradients, which no call of the entry runs."""

from __future__ import annotations

import ast

from engine.static.analysis.answers import is_written_out
from engine.static.analysis.reading import Reading

_GRADIENTS = frozenset({"backward", "jvp", "vjp"})


def computes_gradients(reading: Reading, node: ast.AST) -> bool:
    """Whether it is in a method or a function that torch.autograd alone calls."""
    inside: set[str] = set()
    for above in reading.ancestors(node):
        if isinstance(above, ast.FunctionDef):
            inside.add(above.name)
            if _is_registered_for_gradients(reading, above.name):
                return not _writes_to_parameter(reading, node)
        elif isinstance(above, ast.ClassDef):
            is_operator = any(ast.unparse(base).rpartition(".")[2] == "Function" for base in above.bases)
            if "setup_context" in inside:  # it runs in the forward pass, and is given the answer
                return is_operator and not _writes_to_parameter(reading, node)
            return is_operator and not inside.isdisjoint(_GRADIENTS)
    return False


def _writes_to_parameter(reading: Reading, node: ast.AST) -> bool:
    """Whether the value of an expression is written to a parameter of the function around it."""
    function = reading.function(node)
    if function is None or not isinstance(node, ast.expr):
        return False
    return is_written_out(reading, node, set(reading.tensors.flow(function).parameters))


def _is_registered_for_gradients(reading: Reading, name: str) -> bool:
    """Whether the file uses a function only as a callback of `register_autograd`."""
    uses = [used for used in reading.host(ast.Name) if used.id == name and isinstance(used.ctx, ast.Load)]
    return bool(uses) and all(_is_callback(reading, used) for used in uses)


def _is_callback(reading: Reading, used: ast.Name) -> bool:
    """Whether a function is only passed to `register_autograd` here."""
    call = reading.parent(used)
    if isinstance(call, ast.keyword):
        call = reading.parent(call)
    if not isinstance(call, ast.Call) or call.func is used:
        return False
    return isinstance(call.func, ast.Attribute | ast.Name) and ast.unparse(call.func).endswith("register_autograd")
