"""Mutants of a right kernel: copies of its text with one mistake each, always the same under the same names.

A mutant that provably computes the same is none: texts that parse to the same tree are left out, and so
are other values for padding that is loaded and stored nowhere.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mutation.edits import Edit, Kind, edits_of_grid, edits_of_kernel

# Functions whose result in one lane depends on that lane alone.
_LANE_BY_LANE = frozenset(
    {
        "arange", "cdiv", "exp", "exp2", "full", "load", "maximum", "minimum", "num_programs", "program_id", "rsqrt",
        "sigmoid", "sqrt", "store", "where", "zeros",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One wrong copy: `name` is kernel:line:kind, and :2, :3 ... for further ones of that kind in that line."""

    name: str
    kernel: str
    kind: Kind
    before: str
    after: str
    source: str


def mutants_of(source: str, *, kernel: str) -> tuple[Mutant, ...]:
    """All mutants of a candidate, in the order of its text."""
    tree = ast.parse(source)
    known = set(enumerate(map(ast.dump, tree.body)))
    met: Counter[str] = Counter()
    mutants = []
    for edit in _edits(tree):
        mutated, before = _applied(edit, source)
        place = _statement_of(edit.node, tree)  # the others stay the same
        form = place, ast.dump(ast.parse(mutated).body[place])
        if form in known:
            continue
        known.add(form)
        name = f"{kernel}:{edit.node.lineno}:{edit.kind}"
        met[name] += 1
        numbered = name if met[name] == 1 else f"{name}:{met[name]}"
        mutants.append(
            Mutant(name=numbered, kernel=kernel, kind=edit.kind, before=before, after=edit.text, source=mutated)
        )
    return tuple(mutants)


def drawn(mutants: tuple[Mutant, ...], most: int) -> tuple[Mutant, ...]:
    """At most `most` of them: those whose hashed names come first, in the order of the text."""
    first = sorted(mutants, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())[:most]
    return tuple(mutant for mutant in mutants if mutant in first)


def _edits(tree: ast.Module) -> Iterator[Edit]:
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    for function in kernels:
        unread = _unread_padding(function, {other.name for other in kernels})
        yield from (edit for edit in edits_of_kernel(function) if edit.node not in unread)
    for grid in _grids(tree):
        yield from edits_of_grid(grid)


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator).startswith("triton.jit") for decorator in function.decorator_list)


def _grids(tree: ast.Module) -> Iterator[ast.expr]:
    """What stands in the brackets of launches: the expression itself, or what a name or a function there gives."""
    named = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[node.targets[0].id] = node.value
        elif isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return):
            named[node.name] = node.body[-1].value
    launched = [
        node.func.slice
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)
    ]
    met = set()
    for grid in launched:
        found = (
            named.get(grid.id) if isinstance(grid, ast.Name) else grid.body if isinstance(grid, ast.Lambda) else grid
        )
        if isinstance(found, ast.Tuple) and found not in met:
            met.add(found)
            yield found


def _statement_of(node: ast.expr | ast.stmt, tree: ast.Module) -> int:
    """The number of the statement of the module that a node is in."""
    return next(place for place, one in enumerate(tree.body) if (one.end_lineno or one.lineno) >= node.lineno)


def _applied(edit: Edit, source: str) -> tuple[str, str]:
    """The text with the edit, and what stood in its place."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    content, node = source.encode(), edit.node
    start = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    mutated = content[:start] + edit.text.encode() + content[end:]
    return mutated.decode(), content[start:end].decode()


def _unread_padding(function: ast.FunctionDef, helpers: set[str]) -> set[ast.AST]:
    """The values of `other` that no stored lane can depend on.

    That is so where no function mixes lanes and the mask of every store has all conditions of the load's.
    """
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    named = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    if any(not _keeps_lanes(call, helpers) for call in calls):
        return set()
    masks = {call: _conditions(_keyword(call, "mask"), named) for call in calls}
    stored = [masks[call] for call in calls if ast.unparse(call.func) == "tl.store"]
    unread: set[ast.AST] = set()
    for call in calls:
        other = _keyword(call, "other")
        if other is not None and masks[call] and all(masks[call] <= conditions for conditions in stored):
            unread.update(ast.walk(other))
    return unread


def _keeps_lanes(call: ast.Call, helpers: set[str]) -> bool:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "to" or call.func.attr in _LANE_BY_LANE
    return isinstance(call.func, ast.Name) and call.func.id in helpers | {"float", "range"}


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _conditions(mask: ast.expr | None, named: dict[str, ast.expr]) -> frozenset[str]:
    """What a mask is the conjunction of."""
    if isinstance(mask, ast.Name) and mask.id in named:
        return _conditions(named[mask.id], named)
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return _conditions(mask.left, named) | _conditions(mask.right, named)
    return frozenset({ast.unparse(mask)}) if mask is not None else frozenset()
