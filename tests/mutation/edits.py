"""The kinds of mistakes that are put into right kernels, as edits of their text.

Each rule reads one node of a `@triton.jit` function and says what a hasty author might have written
in its place.  An edit changes text only where it must, so that lines keep their numbers.  A rule never
makes an edit that a compiler option or a tuning knob could make: those change speed, not answers.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard


class Kind(enum.StrEnum):
    """What was done to the kernel."""

    DROP_MASK = "drop_mask"
    DROP_CONDITION = "drop_condition"
    SHIFT_INDEX = "shift_index"
    CHANGE_CONSTANT = "change_constant"
    SWAP_OPERATOR = "swap_operator"
    SWAP_ARGUMENTS = "swap_arguments"
    NARROW = "narrow"
    SKIP_LAST = "skip_last"
    DROP_TERM = "drop_term"
    FORCE_BRANCH = "force_branch"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """`text` instead of `node`."""

    kind: Kind
    node: ast.expr | ast.stmt
    text: str


_MEMORY = frozenset({"tl.load", "tl.store", "tl.atomic_add"})
_OTHER_OPERATOR = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "%", ast.Mod: "//",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
_OTHER_FUNCTION = {
    "tl.maximum": "tl.minimum",
    "tl.minimum": "tl.maximum",
    "tl.max": "tl.min",
    "tl.min": "tl.max",
    "tl.sum": "tl.max",
    "tl.exp": "tl.exp2",
    "tl.exp2": "tl.exp",
    "tl.rsqrt": "tl.sqrt",
}
_OPTIONS = frozenset({"num_stages", "num_warps", "loop_unroll_factor"})
_NARROW_DTYPES = ("tl.float16", "tl.bfloat16")
_WIDE_DTYPES = frozenset({"tl.float32", "WIDE"})


def edits_of_kernel(function: ast.FunctionDef) -> Iterator[Edit]:
    """Every edit of the body of a `@triton.jit` function, in the order of the text."""
    addresses = _inside_addresses(function)
    fixed = _fixed_constants(function)
    for node in (child for statement in function.body for child in _in_order(statement)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.BinOp):
            yield from _of_operation(node, in_address=node in addresses)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _other_comparison(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Edit(kind=Kind.SWAP_OPERATOR, node=node, text=f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Constant) and node not in fixed:
            yield from _other_constant(node)
        elif isinstance(node, ast.AugAssign):
            yield from _of_accumulation(node)
        elif isinstance(node, ast.IfExp):
            for taken in (node.body, node.orelse):
                yield Edit(kind=Kind.FORCE_BRANCH, node=node, text=f"({ast.unparse(taken)})")
        elif isinstance(node, ast.If):
            for taken in ("True", "False"):
                yield Edit(kind=Kind.FORCE_BRANCH, node=node.test, text=taken)
        elif isinstance(node, ast.For):
            yield from _of_loop(node)


def edits_of_grid(grid: ast.expr) -> Iterator[Edit]:
    """A block less along each dimension of a grid, and a grid that is rounded down; never an empty one."""
    for size in grid.elts if isinstance(grid, ast.Tuple) else [grid]:
        if isinstance(size, ast.Starred):
            less = f"*(max(1, one - 1) for one in {ast.unparse(size.value)})"
        else:
            less = f"max(1, ({ast.unparse(size)}) - 1)"
        yield Edit(kind=Kind.SKIP_LAST, node=size, text=less)
        for node in ast.walk(size):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "triton.cdiv":
                whole, part = map(ast.unparse, node.args)
                yield Edit(kind=Kind.SKIP_LAST, node=node, text=f"max(1, ({whole}) // ({part}))")


def _of_call(call: ast.Call) -> Iterator[Edit]:
    name = ast.unparse(call.func)
    if name in _MEMORY:
        if any(keyword.arg == "mask" for keyword in call.keywords):
            yield Edit(kind=Kind.DROP_MASK, node=call, text=_call(name, call, without=("mask", "other")))
        yield Edit(kind=Kind.SHIFT_INDEX, node=call.args[0], text=f"({ast.unparse(call.args[0])} + 1)")
    elif name in ("tl.arange", "tl.program_id"):
        yield Edit(kind=Kind.SHIFT_INDEX, node=call, text=f"({ast.unparse(call)} + 1)")
    elif name in _OTHER_FUNCTION:
        yield Edit(kind=Kind.SWAP_OPERATOR, node=call.func, text=_OTHER_FUNCTION[name])
    elif name == "tl.where":
        condition, first, second = map(ast.unparse, call.args)
        yield Edit(kind=Kind.SWAP_ARGUMENTS, node=call, text=f"tl.where({condition}, {second}, {first})")
        yield Edit(kind=Kind.DROP_CONDITION, node=call, text=f"({first})")
    elif name == "float" and isinstance(call.args[0], ast.Constant):
        yield Edit(kind=Kind.CHANGE_CONSTANT, node=call, text="0.0")
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "to" and ast.unparse(call.args[0]) in _WIDE_DTYPES:
        for narrow in _NARROW_DTYPES:
            yield Edit(kind=Kind.NARROW, node=call, text=f"{ast.unparse(call.func)}({narrow})")


def _call(name: str, call: ast.Call, *, without: tuple[str, ...]) -> str:
    """The text of a call without some of its keywords."""
    kept = [keyword for keyword in call.keywords if keyword.arg not in without]
    return ast.unparse(ast.Call(func=ast.parse(name, mode="eval").body, args=call.args, keywords=kept))


def _of_operation(node: ast.BinOp, *, in_address: bool) -> Iterator[Edit]:
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    if isinstance(node.op, ast.BitAnd):
        for kept in (left, right):
            yield Edit(kind=Kind.DROP_CONDITION, node=node, text=f"({kept})")
        return
    if (other := _OTHER_OPERATOR.get(type(node.op))) is not None:
        yield Edit(kind=Kind.SWAP_OPERATOR, node=node, text=f"(({left}) {other} ({right}))")
    if in_address:
        yield from _swapped_factors(node)
    elif isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        yield Edit(kind=Kind.DROP_TERM, node=node, text=f"({left})")
        if isinstance(node.op, ast.Add | ast.Mult):
            yield Edit(kind=Kind.DROP_TERM, node=node, text=f"({right})")


def _swapped_factors(node: ast.BinOp) -> Iterator[Edit]:
    """i * a + j * b with the strides taken for each other: i * b + j * a."""
    left = node.left
    first = left.right if _is_sum(left) else left
    if not (_is_sum(node) and _is_product(first) and _is_product(node.right)):
        return
    swapped = f"{ast.unparse(first.left)} * {ast.unparse(node.right.right)}"
    swapped += f" + {ast.unparse(node.right.left)} * {ast.unparse(first.right)}"
    before = f"{ast.unparse(left.left)} + " if _is_sum(left) else ""
    yield Edit(kind=Kind.SWAP_ARGUMENTS, node=node, text=f"({before}{swapped})")


def _is_sum(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _is_product(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _other_comparison(node: ast.Compare) -> Iterator[Edit]:
    if (other := _OTHER_OPERATOR.get(type(node.ops[0]))) is not None:
        text = f"({ast.unparse(node.left)} {other} {ast.unparse(node.comparators[0])})"
        yield Edit(kind=Kind.SWAP_OPERATOR, node=node, text=text)


def _other_constant(node: ast.Constant) -> Iterator[Edit]:
    """The next integer, so that 0 is 1 and axis 1 is 2; 1.0 for 0.0, and the double of other floats."""
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return
    value = node.value + 1 if isinstance(node.value, int) else 2 * node.value or 1.0
    yield Edit(kind=Kind.CHANGE_CONSTANT, node=node, text=repr(value))


def _of_accumulation(node: ast.AugAssign) -> Iterator[Edit]:
    target, value = ast.unparse(node.target), ast.unparse(node.value)
    if isinstance(node.op, ast.Add):
        yield Edit(kind=Kind.SWAP_OPERATOR, node=node, text=f"{target} -= {value}")
    yield Edit(kind=Kind.DROP_TERM, node=node, text=f"{target} = {value}")


def _of_loop(loop: ast.For) -> Iterator[Edit]:
    """The last iteration or the last element left out, and whatever the loop accumulates kept in half precision."""
    if isinstance(loop.iter, ast.Call):
        bounds = loop.iter.args
        end = bounds[min(1, len(bounds) - 1)]
        yield Edit(kind=Kind.SKIP_LAST, node=end, text=f"({ast.unparse(end)}) - 1")
        if len(bounds) == 3:
            yield Edit(kind=Kind.SKIP_LAST, node=end, text=f"({ast.unparse(end)}) - ({ast.unparse(bounds[2])})")
    for statement in loop.body:
        target = _accumulated(statement)
        for narrow in _NARROW_DTYPES if target is not None else ():
            text = f"{ast.unparse(statement)}; {target} = {target}.to({narrow}).to({target}.dtype)"
            yield Edit(kind=Kind.NARROW, node=statement, text=text)


def _accumulated(statement: ast.stmt) -> str | None:
    """The name that a statement of a loop carries on, if it does: `x += y`, `x = tl.dot(a, b, x)`."""
    if isinstance(statement, ast.AugAssign):
        return ast.unparse(statement.target)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement.value)):
            return name
    return None


def _inside_addresses(function: ast.FunctionDef) -> set[ast.AST]:
    """All nodes of first arguments of loads and stores, and of expressions that begin at a pointer."""
    found: set[ast.AST] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _MEMORY:
            found.update(ast.walk(node.args[0]))
        if isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Name) and part.id.endswith("_ptr") for part in _leftmost(node.value)
        ):
            found.update(ast.walk(node.value))
    return found


def _leftmost(expression: ast.expr) -> Iterator[ast.expr]:
    """The operand that a chain of operators begins with: `p` of `p + i * a + j`."""
    while isinstance(expression, ast.BinOp):
        expression = expression.left
    yield expression


def _fixed_constants(function: ast.FunctionDef) -> set[ast.AST]:
    """The constants that change no answer, and where tl.arange begins, which is always 0."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    options = {keyword.value for call in calls for keyword in call.keywords if keyword.arg in _OPTIONS}
    return options | {call.args[0] for call in calls if ast.unparse(call.func) == "tl.arange"}


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
