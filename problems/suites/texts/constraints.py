"""Integer inputs that are determined by a definition of flashinfer-trace: ends of parts, and pages in use.

The suite draws integers from [-1024, 1024) where a workload says "random", which are not valid offsets or indices.
Valid ones follow from constraints such as `total == indptr[-1].item()` and from the names that the dataset uses.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Collection, Mapping, Sequence

from engine.model.parsing import parse

_PAGES, _PAGE_SIZE = "num_pages", "page_size"
_INDICES, _LAST_LENGTH = "_indices", "last_page_len"


class Kind(enum.StrEnum):
    """Kinds of integer inputs, in terms of the size of an axis.

    OFFSETS rise from 0 to the size, INDICES are below it with as few repetitions as possible, LENGTHS are from 1 to it.
    """

    OFFSETS = "offsets"
    INDICES = "indices"
    LENGTHS = "lengths"


def determined(
    inputs: Mapping[str, Sequence[str] | None], axes: Collection[str], constraints: Sequence[str]
) -> dict[str, tuple[Kind, str]]:
    """The kind of each determined input and the axis that bounds it, by the name of the input.

    `inputs` are the axes of each integer input.
    """
    ends = dict(end for text in constraints if (end := _end(text)) is not None)
    found: dict[str, tuple[Kind, str]] = {}
    for name, shape in inputs.items():
        if shape is None or len(shape) != 1:
            continue
        if ends.get(name) in axes:
            found[name] = (Kind.OFFSETS, ends[name])
        elif name.endswith(_INDICES) and _PAGES in axes:
            found[name] = (Kind.INDICES, _PAGES)
        elif name.endswith(_LAST_LENGTH) and _PAGE_SIZE in axes:
            found[name] = (Kind.LENGTHS, _PAGE_SIZE)
    return found


def _end(constraint: str) -> tuple[str, str] | None:
    """The input and the axis of a constraint `axis == input[-1].item()`; None for any other constraint."""
    try:
        statements = parse(constraint.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match statements:
        case [ast.Expr(value=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))]:
            sides = [(left, right), (right, left)]
        case _:
            return None
    pairs = ((_last_of(one), other.id) for one, other in sides if isinstance(other, ast.Name))
    return next(((name, axis) for name, axis in pairs if name is not None), None)


def _last_of(node: ast.expr) -> str | None:
    """The name of the tensor whose last element this expression is, with or without `.item()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]):
            return _last_of(inner)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
            return name
    return None
