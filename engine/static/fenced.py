"""Fenced code blocks of a Markdown text, and whether a text defines a function: how answers of models are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.model.parsing import parse

PYTHON = frozenset({"", "python", "py", "python3", "triton"})
"""What a block of Python is labelled with."""

_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block; `is_closed` is False where the answer ends inside of it."""

    language: str
    text: str
    is_closed: bool


def fenced_blocks(answer: str) -> Iterator[Block]:
    """The fenced code blocks of a Markdown text, by CommonMark's rules for fences."""
    fence, language, lines = "", "", list[str]()
    for line in answer.splitlines(keepends=True):
        found = _FENCE.match(line.rstrip("\r\n"))
        if not fence:
            if found:
                fence, words = found["fence"], found["info"].split()
                language, lines = (words[0].lower() if words else ""), []
        elif found and not found["info"].strip() and found["fence"].startswith(fence):
            yield Block(language=language, text="".join(lines), is_closed=True)
            fence = ""
        else:
            lines.append(line)
    if fence:
        yield Block(language=language, text="".join(lines), is_closed=False)


def defines(text: str, entry: str) -> bool:
    """Whether a text is Python that defines this function or class, or assigns this name, at its top."""
    try:
        module = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(entry in _names(statement) for statement in module.body)


def _names(statement: ast.stmt) -> tuple[str, ...]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case _:
            return ()
