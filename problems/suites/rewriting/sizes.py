"""The size constants of a reference: found in its text, and replaced by smaller ones before it runs.

A constant is a name that is bound once, at module level, to an integer or to a tuple or list of integers, as a literal
or as arithmetic on literals and other constants. Only literals and such arithmetic are evaluated; nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from engine.errors import UsageError
from engine.model.parsing import parse
from problems.suites.task import Size
from problems.suites.texts.syntax import lines_of

_MOST_BITS = 62
_MOST = 1 << _MOST_BITS
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True, kw_only=True)
class Resized:
    """A text with other sizes, and the changes: by name, the size before and after."""

    text: str
    changed: Mapping[str, tuple[Size, Size]]


def constants_of(text: str) -> dict[str, Size]:
    """The size constants of a Python text by name; empty for a text that does not parse."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    known: dict[str, Size] = {}
    for name, value in _bindings(tree):
        size = _folded(value, known)
        if size is not None:
            known[name] = size
    return known


def resized(text: str, *, cap: int | None = None, chosen: Mapping[str, Size] | None = None) -> Resized:
    """The text with each constant of `chosen` set, and every other one limited to `cap`.

    A constant computed from others is replaced only if its value would still exceed the cap.

    Raises:
        UsageError: the text has no constant of a name in `chosen`.
        SyntaxError: it does not parse.
    """
    chosen = chosen or {}
    before = constants_of(text)
    unknown = sorted(set(chosen) - set(before))
    if unknown:
        names = ", ".join(before) or "it has none"
        raise UsageError(f"there is no size constant {unknown[0]!r} in the reference; its constants: {names}")
    now: dict[str, Size] = {}
    replaced: list[tuple[ast.expr, Size]] = []
    for name, value in _bindings(parse(text)):
        size = _folded(value, now)
        if size is None:
            continue
        wanted = chosen.get(name, _capped(size, cap))
        if wanted != size:
            replaced.append((value, wanted))
        now[name] = wanted
    changed = {name: (before[name], size) for name, size in now.items() if name in before and before[name] != size}
    return Resized(text=_with(text, replaced), changed=changed)


def _bindings(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names bound exactly once at module level, each with its value, in order."""
    found = list(_assigned(tree))
    names = [name for name, _ in found]
    yield from ((name, value) for name, value in found if names.count(name) == 1)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names assigned at module level, with the value of each assignment."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _folded(value: ast.expr, known: Mapping[str, Size]) -> Size | None:
    """The size that this expression has, or None."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            numbers = [_folded(part, known) for part in parts]
            found = tuple(number for number in numbers if isinstance(number, int))
            return found if parts and len(found) == len(parts) else None
        case ast.Constant(value=number) if isinstance(number, int) and not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return known.get(name)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            return _computed(_OPERATIONS[type(operation)], _folded(left, known), _folded(right, known))
    return None


def _computed(operation: Callable[[int, int], int], left: Size | None, right: Size | None) -> int | None:
    is_large = operation in (operator.lshift, operator.pow)
    if not isinstance(left, int) or not isinstance(right, int) or (is_large and not 0 <= right <= _MOST_BITS):
        return None
    try:
        found = operation(left, right)
    except ZeroDivisionError:
        return None
    return found if abs(found) < _MOST else None


def _capped(size: Size, cap: int | None) -> Size:
    if cap is None:
        return size
    return min(size, cap) if isinstance(size, int) else tuple(min(part, cap) for part in size)


def _with(text: str, replaced: list[tuple[ast.expr, Size]]) -> str:
    """The text with expressions replaced by sizes; line numbers and the columns of other lines are unchanged."""
    lines = [line.encode() for line in lines_of(text)]
    for value, size in reversed(replaced):
        assert value.end_lineno is not None and value.end_col_offset is not None
        first, last = value.lineno - 1, value.end_lineno - 1
        written = repr(list(size)) if isinstance(value, ast.List) and isinstance(size, tuple) else repr(size)
        kept = b"\n" * (last - first)
        lines[first : last + 1] = [
            lines[first][: value.col_offset] + written.encode() + lines[last][value.end_col_offset :] + kept
        ]
    return b"".join(lines).decode()
