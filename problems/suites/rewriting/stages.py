"""Stages of a fusion: intermediates that its reference names, compared where the candidate binds them to the same name.

Reference and candidate are changed alike: the function that is called returns the shared intermediates before its
result, in the order of the reference.  Each is compared as an output, so the first that is wrong is the first stage
that differs.  The changed line keeps its number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from engine.errors import UsageError
from engine.model.parsing import parse
from engine.model.problems.form import CandidateForm
from problems.suites.texts.syntax import Function, functions

RESULT = "result"
"""What is compared after the last stage."""
_METHOD, _REFERENCE_CLASS = "forward", "Model"
# Numbers that come from shapes are no stages.
_OF_SHAPES = frozenset({"shape", "size", "dim", "numel", "ndim", "stride", "len", "int", "cdiv", "next_power_of_2"})


def shared_stages(
    reference: str, candidate: str, *, form: CandidateForm, entry: str, result: str = RESULT
) -> tuple[str, ...]:
    """The names of the stages that both texts have, in the order of the reference.

    Raises:
        UsageError: a text does not parse, a function is not there, or no stage is shared; says what to do.
    """
    first = stages(_function(reference, form, _name_in_reference(form, entry)))
    if not first:
        raise UsageError(f"the reference binds no intermediate before its {result}, so there is no stage to compare")
    bound = stages(_function(candidate, form, entry), of_any_kind=True)
    shared = tuple(name for name in first if name in bound)
    if not shared:
        raise UsageError(
            f"the candidate binds none of the reference's intermediates ({', '.join(first)}); give tensors that "
            f"{_shown(form, entry)} stores them in the same names"
        )
    return shared


def with_stages(text: str, names: Sequence[str], *, form: CandidateForm, entry: str, is_reference: bool) -> str:
    """The text whose function returns these stages before its result."""
    function = _function(text, form, _name_in_reference(form, entry) if is_reference else entry)
    lines = text.encode().splitlines(keepends=True)
    for value in reversed([found.value for found in _returns(function) if found.value is not None]):
        assert value.end_lineno is not None and value.end_col_offset is not None  # of parsed text
        _insert(lines, value.end_lineno, value.end_col_offset, b"))")
        _insert(lines, value.lineno, value.col_offset, f"({', '.join(names)}, (".encode())
    return b"".join(lines).decode()


def stages(function: Function, *, of_any_kind: bool = False) -> tuple[str, ...]:
    """The names that a function binds once, to a tensor's computation, before every return; `of_any_kind` to anything.

    Looked at are statements of the function's own block: what is bound in a branch may not be there.
    """
    bound = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    bound += [node.arg for node in ast.walk(function) if isinstance(node, ast.arg)]
    first_return = min((found.lineno for found in _returns(function)), default=0)
    found = []
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if statement.lineno < first_return:
                if bound.count(name) == 1 and (of_any_kind or _is_computation(value)):
                    found.append(name)
    return tuple(found)


def _is_computation(value: ast.expr) -> bool:
    """Whether this may be a tensor: a call or an operation that is not about shapes."""
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
    """The function of this name, or the method that computes of the class of this name.

    Raises:
        UsageError: the text does not parse or has none, or the form of candidate has no such function.
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
    """The returns of a function in their order, without those of functions inside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from _returns(child)


def _insert(lines: list[bytes], line: int, column: int, text: bytes) -> None:
    old = lines[line - 1]
    lines[line - 1] = old[:column] + text + old[column:]
