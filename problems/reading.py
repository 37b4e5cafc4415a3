"""Descriptions in problem files, read from the syntax tree; no file is executed.

A list of all problems therefore needs no import, and a user's file cannot break it. The fields that are read must be
literals in the call `PROBLEM = ProblemDefinition(...)`: name, entry, signature, summary and category, and second_oracle
if present.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from engine.errors import EngineError
from engine.model import Category, DType
from engine.model.parsing import parse
from engine.problem_source import ProblemDescription

_CLASS, _NAME = "ProblemDefinition", "PROBLEM"
_TEXTS = ("name", "entry", "signature", "summary")
_DTYPES_OF_THE_KIT = {
    "F32": (DType.FLOAT32,),
    "F16": (DType.FLOAT16,),
    "BF16": (DType.BFLOAT16,),
    "FLOATS": (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16),
    "INTEGERS": (DType.INT32, DType.INT64, DType.INT16, DType.INT8, DType.UINT8),
    "WHOLE": (DType.INT32, DType.INT64, DType.INT16, DType.INT8, DType.UINT8, DType.BOOL),
    "EVERY_DTYPE": (
        *(DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128),
        *(DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8, DType.BOOL),
    ),
}


def describe(file: Path, *, name: str, source: str, shown: str) -> ProblemDescription:
    """Description of the problem called `name` by `file`; `shown` is the file's name in errors.

    Raises:
        EngineError: it cannot be read, or is not a problem file; the message has the file, the line and the next step.
    """
    try:
        tree = parse(file.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise EngineError(f"{shown}:{error.lineno or 1}: syntax error: {error.msg}") from error
    except (OSError, ValueError) as error:
        raise EngineError(f"{shown}: cannot be read: {error}; a problem file is Python source in UTF-8") from error
    call = _definition(tree, shown)
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    texts = {key: _text(given.get(key), key, call, shown) for key in _TEXTS}
    if texts["name"] != name:
        line = given["name"].lineno
        raise EngineError(f"{shown}:{line}: PROBLEM.name should be {name!r} after the file, is {texts['name']!r}")
    first, _, rest = (ast.get_docstring(tree) or "").partition("\n")
    return ProblemDescription(
        source=source,
        name=texts["name"],
        entry=texts["entry"],
        signature=texts["signature"],
        summary=texts["summary"],
        category=_category(given.get("category"), call, shown),
        formula=first,
        contract=rest.strip("\n"),
        file=file,
        dtypes=tuple(dict.fromkeys(_dtypes(tree))),
        second_oracle=_text(given["second_oracle"], "second_oracle", call, shown) if "second_oracle" in given else "",
        functions={role: value.id for role, value in given.items() if isinstance(value, ast.Name)},
    )


def _definition(tree: ast.Module, shown: str) -> ast.Call:
    for statement in reversed(tree.body):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="PROBLEM")], value=value)
                | ast.AnnAssign(target=ast.Name(id="PROBLEM"), value=value)
            ):
                if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == _CLASS:
                    return value
                raise EngineError(f"{shown}:{statement.lineno}: {_NAME} should be a call of {_CLASS}(...)")
    raise EngineError(f"{shown}:1: no {_NAME} = {_CLASS}(...) at the top level; a problem file defines one")


def _text(value: ast.expr | None, key: str, call: ast.Call, shown: str) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if value is None:
        raise EngineError(f"{shown}:{call.lineno}: {_NAME} has no {key}; write {key}='...'")
    raise EngineError(f"{shown}:{value.lineno}: {key} should be a string literal, is {ast.unparse(value)}")


def _category(value: ast.expr | None, call: ast.Call, shown: str) -> Category:
    if isinstance(value, ast.Attribute) and ast.unparse(value.value).rpartition(".")[2] == "Category":
        if value.attr in Category.__members__:
            return Category[value.attr]
        near = ", ".join(Category.__members__)
        raise EngineError(f"{shown}:{value.lineno}: unknown category {value.attr}; use one of {near}")
    line, words = (call.lineno, "missing") if value is None else (value.lineno, ast.unparse(value))
    raise EngineError(f"{shown}:{line}: category should be a member of Category, such as Category.OTHER, is {words}")


def _dtypes(tree: ast.Module) -> Iterator[DType]:
    """The element types in arguments called `dtype`, in the order of the text."""
    assigned = {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "dtype":
            yield from _named(node.value, assigned)


def _named(value: ast.expr, assigned: dict[str, ast.expr]) -> Iterator[DType]:
    for node in ast.walk(value):
        match node:
            case ast.Name(id=name) if name in _DTYPES_OF_THE_KIT:
                yield from _DTYPES_OF_THE_KIT[name]
            case ast.Name(id=name) if name in assigned and assigned[name] is not value:
                yield from _named(assigned.pop(name), assigned)
            case ast.Attribute(value=ast.Name(id="DType"), attr=attribute) if attribute in DType.__members__:
                yield DType[attribute]
