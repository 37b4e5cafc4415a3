"""Stages of a fusion: named intermediates of its reference, compared if the candidate binds them to the same names.

Reference and candidate are changed in the same way: the called function returns the shared intermediates before its
result, in the order of the reference. Each is compared as an output, so the first wrong output is the first stage that
differs. A name that is bound several times is one stage each time, `x#1/3` to `x#3/3`, if both texts bind it equally
often; its value is copied before the next binding. Changed lines keep their numbers.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from engine.errors import UsageError
from engine.model.parsing import parse
from engine.model.problems.form import CandidateForm
from problems.suites.texts.syntax import Function, functions

RESULT = "result"
"""Label of the result, which is compared after the last stage."""
_METHOD, _REFERENCE_CLASS = "forward", "Model"
# Numbers derived from shapes are not stages.
_SAME_VALUES = frozenset({"contiguous", "clone", "cuda", "detach"})
_OF_SHAPES = frozenset({"shape", "size", "dim", "numel", "ndim", "stride", "len", "int", "cdiv", "next_power_of_2"})


def shared_stages(
    reference: str, candidate: str, *, form: CandidateForm, entry: str, result: str = RESULT
) -> tuple[str, ...]:
    """The names of the stages that both texts have, in the order of the reference.

    Raises:
        UsageError: a text does not parse, a function is missing, or no stage is shared; the message has the next step.
    """
    first = stages(_function(reference, form, _name_in_reference(form, entry)))
    if not first:
        raise UsageError(f"the reference binds no intermediate before its {result}, so there is no stage to compare")
    bound = stages(_function(candidate, form, entry), of_any_kind=True)
    shared = tuple(name for name in first if name in bound)
    if not shared:
        raise UsageError(
            f"the candidate binds none of the reference's intermediates ({', '.join(first)}); give tensors that "
            f"{_shown(form, entry)} stores them in the same names, each as often as the reference"
        )
    return shared


def not_compared(reference: str, candidate: str, *, form: CandidateForm, entry: str) -> tuple[str, ...]:
    """A sentence for each intermediate name of the reference that is not a shared stage.

    Raises:
        UsageError: as shared_stages.
    """
    given, other = _function(reference, form, _name_in_reference(form, entry)), _function(candidate, form, entry)
    first, bound = stages(given), stages(other, of_any_kind=True)
    missing = {_plain(stage): stage for stage in first if stage not in bound}
    counts = {_plain(stage): stage.partition("/")[2] or "1" for stage in bound}
    sentences = [
        f"{name}: bound {_times(stage.partition('/')[2] or '1')} in the reference, {_times(counts.get(name, '0'))} here"
        for name, stage in missing.items()
    ]
    known = {_plain(stage) for stage in first}
    inside = dict.fromkeys(name for name in _bound_to_computations(given) if name not in known)
    return (
        *sentences,
        *(f"{name}: also bound in a branch or loop, after a return, or not to a tensor" for name in inside),
    )


def with_stages(text: str, names: Sequence[str], *, form: CandidateForm, entry: str, is_reference: bool) -> str:
    """The text, changed so that its function returns these stages before its result."""
    function = _function(text, form, _name_in_reference(form, entry) if is_reference else entry)
    kept = [_kept_as(stage) for stage in names]
    insertions: list[tuple[int, int, str]] = []
    for value in (found.value for found in _returns(function) if found.value is not None):
        assert value.end_lineno is not None and value.end_col_offset is not None  # always set for parsed text
        insertions.append((value.end_lineno, value.end_col_offset, "))"))
        insertions.append((value.lineno, value.col_offset, f"({', '.join(kept)}, ("))
    statements = _assigned(function)
    for stage, kept_as in zip(names, kept, strict=True):
        if kept_as != _plain(stage):
            again = statements[_plain(stage)][_number(stage)]
            insertions.append((again.lineno, again.col_offset, f"{kept_as} = {_copy_of(_plain(stage))}; "))
    lines = text.encode().splitlines(keepends=True)
    for line, column, new in sorted(insertions, reverse=True):
        _insert(lines, line, column, new.encode())
    return b"".join(lines).decode()


def stages(function: Function, *, of_any_kind: bool = False) -> tuple[str, ...]:
    """The stages of a function: names that it binds to tensor computations before every return.

    With `of_any_kind` names bound to any value. Only statements of the function's own block are used, in the order of
    the text, because a name bound in a branch may be unbound.
    """
    found = []
    for name, statements in _assigned(function).items():
        if of_any_kind or all(_is_computation(statement.value) for statement in statements):
            count = len(statements)
            labels = [f"{name}#{number}/{count}" for number in range(1, count + 1)] if count > 1 else [name]
            found += [(statement.lineno, label) for statement, label in zip(statements, labels, strict=True)]
    return tuple(label for _, label in sorted(found, key=lambda one: one[0]))


def _assigned(function: Function) -> dict[str, list[ast.Assign]]:
    """The assignments to each name that nothing else in the function binds; its arguments may be such names.

    Making an argument contiguous or moving it keeps its values, so that is not a stage.
    """
    bound = Counter(_bound(function))
    own = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    first_return = min((found.lineno for found in _returns(function)), default=0)
    found: dict[str, list[ast.Assign]] = {}
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if statement.lineno < first_return:
                found.setdefault(name, []).append(statement)
    whole = {name: nodes for name, nodes in found.items() if bound[name] == len(nodes)}
    computed = {
        name: [node for node in nodes if name not in own or not _keeps_values(node.value, name)]
        for name, nodes in whole.items()
    }
    return {name: nodes for name, nodes in computed.items() if nodes}


def _bound(function: Function) -> Iterator[str]:
    """Every name bound in a function, once per binding, without its arguments."""
    arguments = set(ast.walk(function.args))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node not in arguments:
            yield node.arg


def _bound_to_computations(function: Function) -> Iterator[str]:
    """The names that any assignment in a function binds to a value that may be a tensor."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_computation(value):
                yield name


def _keeps_values(value: ast.expr, name: str) -> bool:
    """Whether this expression is the value of a name in another layout or on another device."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=method)):
            return of == name and method in _SAME_VALUES
    return False


def _plain(stage: str) -> str:
    return stage.partition("#")[0]


def _number(stage: str) -> int:
    """The index of a stage among the bindings of its name, from 1 on."""
    return int(stage.partition("#")[2].partition("/")[0] or 1)


def _kept_as(stage: str) -> str:
    """The name that holds a stage at the end of the function: its own unless it is bound again."""
    number, count = _number(stage), int(stage.partition("/")[2] or 1)
    return _plain(stage) if number == count else f"_stage_{_plain(stage)}_{number}"


def _copy_of(name: str) -> str:
    """An expression for a copy of a name's value, which later in-place operations do not change."""
    return f'{name}.clone() if hasattr({name}, "clone") else {name}'


def _times(count: str) -> str:
    return {"0": "not", "1": "once"}.get(count, f"{count} times")


def _is_computation(value: ast.expr) -> bool:
    """Whether this may be a tensor: a call or an operation other than those on shapes."""
    if not isinstance(value, ast.Call | ast.BinOp):
        return False
    parts = (value.func, *value.args) if isinstance(value, ast.Call) else (value.left, value.right)
    return not any(_is_of_shape(part) for part in parts)


def _is_of_shape(part: ast.expr) -> bool:
    match part:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _OF_SHAPES
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return _is_of_shape(inner)
    return False


def _function(text: str, form: CandidateForm, name: str) -> Function:
    """The function of this name, or the computing method of the class of this name.

    Raises:
        UsageError: the text does not parse or lacks the function, or this form of candidate has none.
    """
    if form not in (CandidateForm.MODULE, CandidateForm.CALL):
        raise UsageError("stages are compared for tasks whose candidates are functions or modules")
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"stages cannot be read: {error}") from error
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    found = functions(tree) if form is CandidateForm.CALL else _methods(classes)
    function = found.get(name if form is CandidateForm.CALL else _METHOD)
    if function is None:
        raise UsageError(f"stages cannot be compared: {_shown(form, name)} is not defined in the file")
    return function


def _methods(classes: Sequence[ast.ClassDef]) -> dict[str, Function]:
    return {node.name: node for one in classes for node in one.body if isinstance(node, Function)}


def _name_in_reference(form: CandidateForm, entry: str) -> str:
    return _REFERENCE_CLASS if form is CandidateForm.MODULE else entry


def _shown(form: CandidateForm, name: str) -> str:
    return f"{name}.{_METHOD}" if form is CandidateForm.MODULE else name


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    """The returns of a function in order, without those of nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from _returns(child)


def _insert(lines: list[bytes], line: int, column: int, text: bytes) -> None:
    old = lines[line - 1]
    lines[line - 1] = old[:column] + text + old[column:]
