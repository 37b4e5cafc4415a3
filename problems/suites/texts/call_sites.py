"""Calls of a function in the text of tests: each call site is a case, or several cases if a loop repeats it.

All iterations of a loop over literals count; of any other loop only the first.  A call in a helper counts as often as
the helper is called, if that does not depend on a condition. Calls whose exceptions are caught, and calls that draw
random numbers, are skipped.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from problems.suites.texts.syntax import asks_to_write

Around: TypeAlias = tuple[ast.AST, ...]

_MOST_CALLS = 24  # limit on the calls recorded at one call site
_CONDITIONS = (ast.If, ast.IfExp, ast.While, ast.Try, ast.Lambda)
_SHARES = frozenset({"p", "dropout", "dropout_p"})


@dataclass(frozen=True, kw_only=True)
class CallSites:
    """The names of the calls, "line 12" or "line 12 #3" for the third one there, and the skipped lines.

    `writes` is whether a call requests a result in an argument (`inplace=True`, `out=...`).
    """

    names: tuple[str, ...]
    writes: bool = False
    caught: tuple[int, ...] = ()
    random: tuple[int, ...] = ()


def call_sites(tests: ast.Module, entry: str, *, is_random: bool = False) -> CallSites:
    """The calls of `entry` in the tests. With `is_random` a call draws random numbers unless an argument forbids it."""
    count_by_line: dict[int, int] = {}
    caught, random, writes = [], [], False
    for call, around in _calls(tests, entry):
        if any(isinstance(outer, ast.Try) and outer.handlers for outer in around):
            caught.append(call.lineno)
        elif is_random and not any(map(_forbids_random, call.keywords)):
            random.append(call.lineno)
        else:
            count_by_line[call.lineno] = count_by_line.get(call.lineno, 0) + _turns(around, tests)
            writes = writes or any(map(asks_to_write, call.keywords))
    names = tuple(name for line, count in sorted(count_by_line.items()) for name in _names(line, count))
    return CallSites(names=names, writes=writes, caught=tuple(caught), random=tuple(random))


def place_of(name: str) -> tuple[int, int]:
    """The line of a call from its name, and the number of earlier calls in that line."""
    line, _, number = name.removeprefix("line ").partition(" #")
    return int(line), int(number or 1) - 1


def _names(line: int, count: int) -> Iterator[str]:
    if count == 1:
        yield f"line {line}"
    else:
        yield from (f"line {line} #{number + 1}" for number in range(min(count, _MOST_CALLS)))


def _calls(tree: ast.AST, entry: str, around: Around = ()) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    """The calls of a function, each with its enclosing statements from the outside in."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == entry:
            yield child, around
        yield from _calls(child, entry, (*around, child))


def _forbids_random(keyword: ast.keyword) -> bool:
    """Whether an argument disables dropout."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg == "training" and value is False) or (keyword.arg in _SHARES and value in (0, 0.0))


def _turns(around: Around, tests: ast.Module, within: frozenset[str] = frozenset()) -> int:
    """Number of times a call site is reached: the product of the iterations of the loops around it.

    `within` are the functions whose calls are being counted.
    """
    turns = _calls_of_function(around, tests, within)
    for outer in around:
        if isinstance(outer, ast.For):
            turns *= _length(outer.iter, tests)
        elif isinstance(outer, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            turns *= _iterations(outer.generators, tests)
    return max(turns, 1)


def _iterations(parts: list[ast.comprehension], tests: ast.Module) -> int:
    """The number of iterations of a comprehension; 1 for each part that is filtered or of unknown length."""
    return math.prod(1 if part.ifs else _length(part.iter, tests) for part in parts)


def _calls_of_function(around: Around, tests: ast.Module, within: frozenset[str]) -> int:
    """Number of calls of the innermost function around a call site; 1 if that is unknown."""
    places = [place for place, outer in enumerate(around) if isinstance(outer, ast.FunctionDef)]
    if not places:
        return 1
    function = around[places[-1]]
    assert isinstance(function, ast.FunctionDef)
    sites = [outer for _, outer in _calls(tests, function.name)]
    parts = (*around[places[-1] :], *(part for site in sites for part in site))
    is_recursive = function.name in within or any(function in site for site in sites)
    if not sites or is_recursive or any(isinstance(part, _CONDITIONS) for part in parts):
        return 1
    return sum(_turns(site, tests, within | {function.name}) for site in sites)


def _length(iterated: ast.expr, tests: ast.Module) -> int:
    """The number of iterations of a loop over a literal, a range of literals or a name bound once to one; else 1.

    A comprehension or zip of such counts, too.
    """
    match iterated:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return len(parts)
        case ast.Dict(keys=keys):
            return len(keys)
        case ast.Call(func=ast.Name(id="range"), args=bounds):
            numbers = [bound.value for bound in bounds if isinstance(bound, ast.Constant)]
            whole = [number for number in numbers if isinstance(number, int)]
            return len(range(*whole)) if whole and len(whole) == len(bounds) else 1
        case ast.ListComp(generators=parts) | ast.GeneratorExp(generators=parts):
            return _iterations(parts, tests)
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as inner):
            return min(_length(one, tests) for one in inner)
        case ast.Call(func=ast.Name(id="enumerate" | "reversed" | "sorted"), args=[inner, *_]):
            return _length(inner, tests)
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "keys" | "values"), args=[]):
            return _length(inner, tests)
        case ast.Name(id=name):
            values = [node.value for node in ast.walk(tests) if isinstance(node, ast.Assign) and _binds(node, name)]
            return _length(values[0], tests) if len(values) == 1 and not isinstance(values[0], ast.Name) else 1
    return 1


def _binds(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
