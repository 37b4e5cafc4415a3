"""Values of a kernel file that can be varied without rewriting it: constants, launch options, configurations.

Read from the syntax tree and changed in the text, so that the rest of the file keeps its comments and spaces.  Nothing
here runs a candidate or writes a file.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from engine.errors import UsageError
from engine.model.parsing import parse
from engine.static.source import is_quickly_parsed

LAUNCH_OPTIONS = ("num_warps", "num_stages")
MOST_VARIANTS = 256


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Bytes `start` to `end` of the text, which are replaced."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Tunable:
    """An integer that the file fixes: `name` is its constant or its keyword in launches, `value` its first text.

    `value` is None for a launch option that no launch gives; it is then added to every launch.
    """

    name: str
    value: str | None
    line: int
    places: tuple[_Place, ...]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The file with other values, which are in its `name`."""

    name: str
    source: bytes


def tunables_of(source: bytes) -> tuple[Tunable, ...]:
    """Everything that can be varied, in the order of the file; launch options that no launch gives come last.

    Raises:
        UsageError: the file is too large, nested too deep, or not UTF-8.
        SyntaxError: the file is not Python.
    """
    tree, offsets = _tree_of(source), _line_offsets(source)
    found: dict[str, Tunable] = {}
    for name, node in _literals(tree):
        place = _place_of(node, offsets)
        text = source[place.start : place.end].decode()
        if ast.literal_eval(text.strip() or "None") != node.value:
            raise UsageError(
                f"line {node.lineno}: {name} is not at its position in the syntax tree; save the file as UTF-8"
            )
        known = found.get(name)
        if known is None:
            found[name] = Tunable(name=name, value=text, line=node.lineno, places=(place,))
        else:
            found[name] = replace(known, places=(*known.places, place))
    tuned = next(_configuration_lists(tree), None) is not None  # whose launches take no options of their own
    launches = [] if tuned else list(_launches(tree))
    for option in LAUNCH_OPTIONS:
        if option not in found and launches and not any(_gives(call, option) for call in launches):
            ends = tuple(_closing(call, offsets) for call in launches)
            found[option] = Tunable(name=option, value=None, line=launches[0].lineno, places=ends)
    return tuple(found.values())


def variants(source: bytes, values_by_name: Mapping[str, Sequence[int]]) -> tuple[Variant, ...]:
    """The file with every combination of these values, the first name changing slowest.

    Raises:
        UsageError: there is no such tunable, no value for one, or there would be too many variants; and as
            `tunables_of`.
        SyntaxError: the file is not Python.
    """
    tunable_by_name = {tunable.name: tunable for tunable in tunables_of(source)}
    for name, values in values_by_name.items():
        if name not in tunable_by_name:
            known = ", ".join(tunable_by_name) or "none"
            raise UsageError(
                f"{name!r} is not tunable: it is neither a module-level integer constant nor an integer "
                f"argument of a launch; this file has {known}"
            )
        if not values:
            raise UsageError(f"{name} has no value to try; give some: {name}=64,128")
    distinct = [tuple(dict.fromkeys(values)) for values in values_by_name.values()]
    if (count := math.prod(map(len, distinct))) > MOST_VARIANTS:
        raise UsageError(f"{count:,} variants are too many for one grid of {MOST_VARIANTS}; try fewer values")
    made = []
    for combination in itertools.product(*distinct):
        chosen = dict(zip(values_by_name, combination, strict=True))
        edits = [
            (place, _text(tunable_by_name[name], value))
            for name, value in chosen.items()
            for place in tunable_by_name[name].places
        ]
        name = " ".join(f"{name}={value}" for name, value in chosen.items())
        made.append(Variant(name=name, source=_edited(source, edits)))
    return tuple(made)


def _tree_of(source: bytes) -> ast.Module:
    """The syntax tree of a file of ordinary size; it is parsed again whenever a value is changed.

    Raises:
        UsageError: it is too large, or nested too deep.
        SyntaxError: the file is not Python.
    """
    if not is_quickly_parsed(source):
        raise UsageError(f"the file has {len(source):,} bytes; parameters are read from files of up to 65,536 bytes")
    try:
        return parse(source)
    except (RecursionError, MemoryError) as error:
        raise UsageError("the file is nested too deep to read its parameters") from error


def configurations(source: bytes) -> tuple[Variant, ...]:
    """The file with each entry of its `triton.autotune` list alone; empty unless it has a list of several.

    With several lists every combination of their entries is made.

    Raises:
        UsageError: the file is too large or nested too deep, or there would be too many variants.
        SyntaxError: the file is not Python.
    """
    tree, offsets = _tree_of(source), _line_offsets(source)
    lists = [node for node in _configuration_lists(tree) if len(node.elts) > 1]
    if (count := math.prod(len(node.elts) for node in lists)) > MOST_VARIANTS:
        raise UsageError(f"{count:,} entries of autotune lists are too many for one grid of {MOST_VARIANTS}")
    made = []
    for combination in itertools.product(*(node.elts for node in lists)) if lists else ():
        places = [_place_of(entry, offsets) for entry in combination]
        texts = [source[place.start : place.end] for place in places]
        edits = [(_place_of(node, offsets), b"[" + text + b"]") for node, text in zip(lists, texts, strict=True)]
        name = " ".join(_configuration_name(entry) for entry in combination)
        made.append(Variant(name=name, source=_edited(source, edits)))
    return tuple(made)


def _literals(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """Named integers: module-level constants, and keywords of launches."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _is_count(statement.value):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                yield targets[0].id, statement.value
    for call in _launches(tree):
        for keyword in call.keywords:
            if keyword.arg is not None and _is_count(keyword.value):
                yield keyword.arg, keyword.value


def _launches(tree: ast.Module) -> Iterator[ast.Call]:
    """Calls of the form `kernel[grid](...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and (node.args or node.keywords):
            yield node


def _configuration_lists(tree: ast.Module) -> Iterator[ast.List]:
    """The lists of `autotune` decorators, given in place or by a module-level name."""
    named = {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _last_name(decorator.func) == "autotune":
                given = next((word.value for word in decorator.keywords if word.arg == "configs"), None)
                given = given or (decorator.args[0] if decorator.args else None)
                given = named.get(given.id) if isinstance(given, ast.Name) else given
                if isinstance(given, ast.List):
                    yield given


def _configuration_name(entry: ast.expr) -> str:
    """Name of an entry among the others: `BLOCK=128 num_warps=4`; its text if it has another form."""
    if not isinstance(entry, ast.Call):
        return ast.unparse(entry)
    parts = []
    for argument in entry.args:
        if isinstance(argument, ast.Dict):
            pairs = zip(argument.keys, argument.values, strict=True)
            parts += [f"{key.value!s}={ast.unparse(value)}" for key, value in pairs if isinstance(key, ast.Constant)]
    parts += [f"{word.arg}={ast.unparse(word.value)}" for word in entry.keywords if word.arg]
    return " ".join(parts) or ast.unparse(entry)


def _last_name(function: ast.expr) -> str:
    """The last part of a dotted name: `autotune` for `triton.autotune`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_count(value: ast.expr | None) -> TypeGuard[ast.Constant]:
    return isinstance(value, ast.Constant) and type(value.value) is int


def _gives(call: ast.Call, option: str) -> bool:
    """Whether the launch has this option, by name or in a mapping."""
    return any(keyword.arg in (option, None) for keyword in call.keywords)


def _text(tunable: Tunable, value: int) -> bytes:
    return (str(value) if tunable.value is not None else f", {tunable.name}={value}").encode()


def _closing(call: ast.Call, offsets: Sequence[int]) -> _Place:
    """The place after the last argument of a launch."""
    given = (*call.args, *(word.value for word in call.keywords))
    end = max(_place_of(argument, offsets).end for argument in given)
    return _Place(start=end, end=end)


def _edited(source: bytes, edits: Sequence[tuple[_Place, bytes]]) -> bytes:
    for place, text in sorted(edits, key=lambda edit: (edit[0].start, edit[0].end), reverse=True):
        source = source[: place.start] + text + source[place.end :]
    return source


def _line_offsets(source: bytes) -> list[int]:
    """Offset of each line, as Python counts lines: also after a lone carriage return."""
    return [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]


def _place_of(node: ast.expr, offsets: Sequence[int]) -> _Place:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return _Place(
        start=offsets[node.lineno - 1] + node.col_offset, end=offsets[node.end_lineno - 1] + node.end_col_offset
    )
