"""Fenced code blocks of a Markdown text, and whether a text defines a function: parsing of answers of models."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.model.parsing import parse

PYTHON = frozenset({"", "python", "py", "python3", "triton"})
"""Labels of Python blocks."""

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_MOST_INDENT_OF_END = 3  # relative to the opening fence: an example in a docstring is indented by 4


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block; `is_closed` is False if the answer ends inside of it."""

    language: str
    text: str
    is_closed: bool


def fenced_blocks(answer: str) -> Iterator[Block]:
    """The fenced code blocks of a Markdown text, by CommonMark's rules for fences, indented as in lists or not."""
    fence, language, indent, lines = "", "", 0, list[str]()
    for line in answer.removeprefix("\ufeff").splitlines(keepends=True):
        found = _FENCE.match(line.rstrip("\r\n"))
        if not fence:
            if found:
                fence, words, indent = found["fence"], found["info"].split(), len(found["indent"])
                language, lines = (words[0].lower() if words else ""), []
        elif found and _ends(found, fence, indent=indent):
            yield Block(language=language, text=_unindented(lines, indent), is_closed=True)
            fence = ""
        else:
            lines.append(line)
    if fence:
        yield Block(language=language, text=_unindented(lines, indent), is_closed=False)


def _ends(found: re.Match[str], fence: str, *, indent: int) -> bool:
    """Whether this line closes the block that `fence` opened at `indent`."""
    is_bare = not found["info"].strip() and found["fence"].startswith(fence)
    return is_bare and len(found["indent"]) <= indent + _MOST_INDENT_OF_END


def _unindented(lines: list[str], indent: int) -> str:
    """The lines without the indentation of their fence, if all of them have it."""
    has_all = all(line.startswith(" " * indent) for line in lines if line.strip())
    return "".join(line[indent:] if line.strip() else line.lstrip(" ") for line in lines) if has_all else "".join(lines)


def defines(text: str, entry: str) -> bool:
    """Whether a text is Python that defines this function or class, or assigns this name, at its top level."""
    return entry in defined_names(text)


def defined_names(text: str) -> frozenset[str]:
    """The functions, classes and variables at the top level of a Python text; none for other texts."""
    module = _module(text)
    return frozenset(name for statement in module.body for name in _names(statement)) if module else frozenset()


def missing_names(text: str) -> frozenset[str]:
    """Names that a Python text reads and binds nowhere: builtins, and names that another text would have to define."""
    module = _module(text)
    if module is None:
        return frozenset()
    names = [node for node in ast.walk(module) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return frozenset(read - {node.id for node in names if not isinstance(node.ctx, ast.Load)} - _bound(module))


def _bound(module: ast.Module) -> set[str]:
    """Names of functions, classes, arguments and imports anywhere in a module."""
    bound: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.arg(arg=name):
                bound.add(name)
            case ast.alias(name=name, asname=renamed):
                bound.add(renamed or name.partition(".")[0])
    return bound


def _module(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement at the top level defines or assigns."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(node.id for target in targets for node in _elements(target) if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return (name,)
        case _:
            return ()


def _elements(target: ast.expr) -> Iterator[ast.expr]:
    """A target, or the targets in a tuple or list of them."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _elements(element)
    else:
        yield target.value if isinstance(target, ast.Starred) else target
