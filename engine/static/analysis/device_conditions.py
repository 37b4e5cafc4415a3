"""Code that runs on a GPU alone, or without one alone: below a condition such as `if x.is_cuda`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.static.analysis.reading import Reading


def runs_without_a_gpu(reading: Reading, node: ast.AST) -> bool:
    """Whether a condition around this node keeps it from running on a GPU."""
    return any(holds is not is_met for holds, is_met in _device_conditions(reading, node))


def runs_on_a_gpu(reading: Reading, node: ast.AST) -> bool:
    """Whether a condition around this node keeps it from running without a GPU."""
    return any(holds is is_met for holds, is_met in _device_conditions(reading, node))


def _device_conditions(reading: Reading, node: ast.AST) -> Iterator[tuple[bool, bool]]:
    """For each condition on the device around a node: its value on a GPU, and that with which the node runs."""
    below = node
    for above in reading.ancestors(node):
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            body = above.body if isinstance(above.body, list) else [above.body]
            holds = _holds_on_a_gpu(above.test)
            if holds is not None:
                yield holds, any(below is part for part in body)
        below = above


def _holds_on_a_gpu(test: ast.expr) -> bool | None:
    """Value of a condition on a GPU; None if it depends on more than the device."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            held = _holds_on_a_gpu(operand)
            return None if held is None else not held
        case ast.Attribute(attr="is_cuda") | ast.Call(func=ast.Attribute(attr="is_available")):
            return True
        case ast.Attribute(attr="is_cpu"):
            return False
        case ast.Compare(
            left=ast.Attribute(attr="type"),
            ops=[ast.Eq() | ast.NotEq() as operator],
            comparators=[ast.Constant(value="cuda" | "cpu" as name)],
        ):
            return isinstance(operator, ast.Eq) is (name == "cuda")
    return None
