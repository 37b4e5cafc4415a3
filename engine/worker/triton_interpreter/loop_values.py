"""Loop counters of an interpreted kernel, which are tensors in compiled code and can be cast.

`row.to(tl.int64)` in a loop over rows is a common way to keep offsets from overflowing.  The counter of Triton's
interpreter is a Python int without `to`, so it would reject valid code.  Patches the interpreter for triton 3.6 to 3.9;
never used outside a worker.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from triton.runtime import interpreter as triton_interpreter

_COUNTED = "loop_numbers"
_RANGES = frozenset({"range"})  # not static_range, whose counter is not a tensor in compiled code either


class LoopNumber(int):
    """An integer that can be cast like a tensor."""

    def to(self, dtype: Any, *args: Any, **options: Any) -> Any:  # Any: Triton's interpreter is not typed
        """The number as a scalar tensor of this type."""
        return triton_interpreter.interpreter_semantic.to_tensor(int(self)).to(dtype, *args, **options)


def loop_numbers(counted: Iterable[object]) -> Iterator[object]:
    """Values of a loop's counter, as integers that can be cast."""
    return (LoopNumber(one) if type(one) is int else one for one in counted)


def install() -> None:
    """Use such counters in the loops of kernels that are interpreted from now on."""
    # The interpreter adds the names of its own module to the globals of kernels.
    setattr(triton_interpreter, _COUNTED, loop_numbers)
    triton_interpreter.FunctionRewriter.ast_transformer = _Loops()


class _Loops(triton_interpreter.ASTTransformer):  # type: ignore[misc]  # Triton's interpreter is not typed
    """Triton's transformer of kernels for the interpreter, extended to the ranges of loops."""

    def visit_For(self, node: ast.For) -> ast.For:  # noqa: N802  # the name that ast looks for
        """`for i in range(n)` becomes `for i in loop_numbers(range(n))`."""
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and _name(node.iter.func) in _RANGES:
            counted = ast.Call(func=ast.Name(id=_COUNTED, ctx=ast.Load()), args=[node.iter], keywords=[])
            node.iter = ast.copy_location(counted, node.iter)
        return node


def _name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")
