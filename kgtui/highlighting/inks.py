"""Inks: the styles of code elements in the screen's theme.

Pygments has hundreds of token types; they are mapped to these few.  Styles use variables of the Textual theme, never
colours, so that a change of theme changes them all.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from pygments.token import Token
from rich.color import Color as RichColor
from rich.style import Style as RichStyle
from textual.color import Color
from textual.style import Style

TokenType: TypeAlias = Any  # a tuple of strings with a parent; Pygments has no type annotations


class Ink(enum.StrEnum):
    """A style of code elements."""

    ADDED = "added"
    ATTRIBUTE = "attribute"
    BUILTIN = "builtin"
    COMMENT = "comment"
    CONSTANT = "constant"
    DECORATOR = "decorator"
    DEFINITION = "definition"
    DOCUMENTATION = "documentation"
    ERROR = "error"
    ESCAPE = "escape"
    HEADING = "heading"
    KEYWORD = "keyword"
    LABEL = "label"
    NUMBER = "number"
    REMOVED = "removed"
    STRING = "string"
    TYPE = "type"
    VARIABLE = "variable"
    WARNING = "warning"


INK_STYLES: Mapping[Ink, str] = {
    Ink.ADDED: "$text-success",
    Ink.ATTRIBUTE: "$text-secondary",
    Ink.BUILTIN: "$text-primary",
    Ink.COMMENT: "italic $foreground 78%",
    Ink.CONSTANT: "bold $text-success",
    Ink.DECORATOR: "bold $text-primary",
    Ink.DEFINITION: "bold $text-warning",
    Ink.DOCUMENTATION: "italic $text-success",
    Ink.ERROR: "bold $text-error",
    Ink.ESCAPE: "bold $text-success",
    Ink.HEADING: "bold $text-primary",
    Ink.KEYWORD: "$text-accent",
    Ink.LABEL: "bold $text-warning",
    Ink.NUMBER: "$text-warning",
    Ink.REMOVED: "$text-error",
    Ink.STRING: "$text-success",
    Ink.TYPE: "bold $text-secondary",
    Ink.VARIABLE: "$text-primary",
    Ink.WARNING: "bold $text-warning",
}

_INK_BY_TOKEN: Mapping[TokenType, Ink | None] = {
    Token: None,
    Token.Comment: Ink.COMMENT,
    Token.Generic.Deleted: Ink.REMOVED,
    Token.Generic.Error: Ink.ERROR,
    Token.Generic.Heading: Ink.HEADING,
    Token.Generic.Inserted: Ink.ADDED,
    Token.Generic.Strong: Ink.WARNING,
    Token.Generic.Subheading: Ink.HEADING,
    Token.Generic.Traceback: Ink.ERROR,
    Token.Keyword: Ink.KEYWORD,
    Token.Keyword.Constant: Ink.CONSTANT,
    Token.Keyword.Pseudo: Ink.ATTRIBUTE,
    Token.Keyword.Type: Ink.TYPE,
    Token.Literal.Number: Ink.NUMBER,
    Token.Literal.String: Ink.STRING,
    Token.Literal.String.Doc: Ink.DOCUMENTATION,
    Token.Literal.String.Escape: Ink.ESCAPE,
    Token.Literal.String.Interpol: Ink.ESCAPE,
    Token.Name: None,
    Token.Name.Attribute: Ink.ATTRIBUTE,
    Token.Name.Builtin: Ink.BUILTIN,
    Token.Name.Class: Ink.DEFINITION,
    Token.Name.Constant: Ink.CONSTANT,
    Token.Name.Decorator: Ink.DECORATOR,
    Token.Name.Exception: Ink.ERROR,
    Token.Name.Function: Ink.DEFINITION,
    Token.Name.Label: Ink.LABEL,
    Token.Name.Variable: Ink.VARIABLE,
    Token.Operator.Word: Ink.KEYWORD,
}


class Span(NamedTuple):
    """Characters `start` to `end` of a line in one ink."""

    start: int
    end: int
    ink: Ink


@cache
def ink_of(token: TokenType) -> Ink | None:
    """The ink of a token type or its nearest ancestor; None for plain text."""
    while token not in _INK_BY_TOKEN:
        token = token.parent
    return _INK_BY_TOKEN[token]


def spans_of(tokens: Iterable[tuple[int, TokenType, str]]) -> tuple[Span, ...]:
    """The inked parts of a text; adjacent parts of one ink are one span, and line ends are in none."""
    spans: list[Span] = []
    for start, token, text in tokens:
        ink = ink_of(token)
        end = start + len(text.rstrip("\n"))
        if ink is None or end == start:
            continue
        if spans and spans[-1].end == start and spans[-1].ink is ink:
            start = spans.pop().start
        spans.append(Span(start, end, ink))
    return tuple(spans)


def rich_style(definition: str, variables: dict[str, str], background: Color) -> RichStyle:
    """A Rich style from one written with theme variables: without background unless it names one.
    Rich has no transparency, so a transparent colour is mixed with `background`.
    """
    style = Style.parse(definition, variables)
    return RichStyle(
        color=_opaque(style.foreground, background),
        bgcolor=_opaque(style.background, background),
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
    )


class ThemedInks:
    """The Rich style of every ink, recomputed only when the theme or the background changes."""

    def __init__(self) -> None:
        self._made_for: tuple[dict[str, str], Color] | None = None
        self._styles: dict[Ink, RichStyle] = {}

    def under(self, variables: dict[str, str], background: Color) -> dict[Ink, RichStyle]:
        """The styles for a theme with these variables, on this background."""
        if (variables, background) != self._made_for:
            self._made_for = (variables, background)
            self._styles = {ink: rich_style(style, variables, background) for ink, style in INK_STYLES.items()}
        return self._styles


def _opaque(color: Color | None, background: Color) -> RichColor | None:
    if color is None:
        return None
    return (color if color.ansi is not None else background + color).rich_color
