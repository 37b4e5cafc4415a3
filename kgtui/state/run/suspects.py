"""The lines of a kernel that could have caused a wrong output: where to look first.
Derived only from the source, so they are suspects without proof.  If no line fits, none is named.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.model import CaseResult, DiagnosisKind
from engine.model.parsing import parse
from engine.static.source import is_quickly_parsed
from kgtui.files.disk import shown_text

_MOST_LINES = 4
_REDUCTIONS = {
    "sum", "max", "min", "maximum", "minimum", "dot", "reduce", "cumsum", "associative_scan", "argmax", "argmin",
    "xor_sum", "cumprod",
}  # fmt: skip
_PADDED = "a masked load that puts a number where the mask is off"
_REDUCED = f"{_PADDED}, and is reduced"
_STORED = "the stored value and the enclosing loop"
_ABOUT_STORES = (DiagnosisKind.UNWRITTEN_OUTPUT, DiagnosisKind.TAIL_MASK, DiagnosisKind.ZEROED, DiagnosisKind.RACE)
_TELLING = (DiagnosisKind.REDUCTION_IDENTITY, *_ABOUT_STORES)


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """Suspected lines in order, each with its text, and the common reason."""

    what: str
    lines: tuple[tuple[int, str], ...]


def suspects(result: CaseResult, source: bytes) -> Suspects | None:
    """Suspect lines for a failed case; None if its line is known, or nothing fits."""
    if result.location is not None or result.out_of_bounds is not None:
        return None
    found = next((one.explanation.diagnoses for one in result.outputs if one.explanation), ())
    return _suspects(found[0].kind, source) if found and found[0].kind in _TELLING else None


@lru_cache(maxsize=16)  # cached: called for every drawing of the case, and 2,000 lines take long to parse
def _suspects(kind: DiagnosisKind, source: bytes) -> Suspects | None:
    if not is_quickly_parsed(source):  # parsing would block drawing
        return None
    try:
        text = source.decode()
        tree = parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # reported elsewhere in the workbench
        return None
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    what, numbers = _lines_of(kind, kernels)
    written = shown_text(source).splitlines()
    lines = tuple((number, written[number - 1].strip()) for number in sorted(set(numbers))[:_MOST_LINES])
    return Suspects(what=what, lines=lines) if lines else None


def _lines_of(kind: DiagnosisKind, kernels: Sequence[ast.FunctionDef]) -> tuple[str, list[int]]:
    if kind is DiagnosisKind.REDUCTION_IDENTITY:
        loads = [load for kernel in kernels for load in _padded_loads(kernel.body)]
        reduced = [number for number, is_reduced in loads if is_reduced]
        return (_REDUCED, reduced) if reduced else (_PADDED, [number for number, _ in loads])
    return _STORED, [number for kernel in kernels for number in _stores(kernel, ())]


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(name == "jit" for decorator in function.decorator_list for name in _names(decorator))


def _names(node: ast.AST) -> set[str]:
    """Every name and attribute in the expression."""
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def _padded_loads(body: Sequence[ast.stmt]) -> Iterator[tuple[int, bool]]:
    """The lines of masked loads with a fill value, and whether their result is reduced."""
    for place, statement in enumerate(body):
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            yield from _padded_loads(inner)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and statement.value is not None:
            for call in ast.walk(statement.value):
                if isinstance(call, ast.Call) and _puts_a_number_in(call):
                    yield call.lineno, _is_reduced(statement, body[place + 1 :])


def _puts_a_number_in(call: ast.Call) -> bool:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "load"):
        return False
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given.update(zip(("mask", "other"), call.args[1:3], strict=False))
    other = given.get("other")
    return "mask" in given and (other is None or (isinstance(other, ast.Constant) and other.value is not None))


def _is_reduced(load: ast.stmt, following: Sequence[ast.stmt]) -> bool:
    """Whether a name bound by a statement is used in a reduction or a running total, also through other names."""
    if isinstance(load, ast.AugAssign) or _reduces(load, {"load"}):
        return True
    carried = {target.id for target in getattr(load, "targets", []) if isinstance(target, ast.Name)}
    for statement in following:
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) or statement.value is None:
            continue
        used = _names(statement.value)
        if _reduces(statement, carried) or (isinstance(statement, ast.AugAssign) and used & carried):
            return True
        targets = {name.id for name in getattr(statement, "targets", []) if isinstance(name, ast.Name)}
        carried = carried | targets if used & carried else carried - targets
    return False


def _reduces(statement: ast.stmt, names: set[str]) -> bool:
    """Whether one of these names is in an argument of a reduction."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _REDUCTIONS
        and any(_names(argument) & names for argument in (*node.args, node.func.value))
        for node in ast.walk(statement)
    )


def _stores(node: ast.AST, loops: tuple[int, ...]) -> Iterator[int]:
    """The lines of stores and of the loops around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "store":
            yield from (child.lineno, *loops)
        yield from _stores(child, (*loops, child.lineno) if isinstance(child, ast.For | ast.While) else loops)
