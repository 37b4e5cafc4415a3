"""The tokens of TTIR, and a cursor over them.

A type such as `tensor<64x!tt.ptr<f32>>` is one token, and so is a reference to a location: both are by far the most
frequent, and a whole type is looked up in a table instead of parsed each time.
"""

from __future__ import annotations

import re
from typing import NoReturn

from engine.machine.errors import MalformedError

# Quantifiers are possessive: no input makes the expression backtrack.
_INSIDE = r"[^<>\"\n]*+"
_BRACKETS = f"<{_INSIDE}(?:<{_INSIDE}(?:<{_INSIDE}(?:<{_INSIDE}>{_INSIDE})?+>{_INSIDE})?+>{_INSIDE})?+>"
_TOKEN = re.compile(
    r"(?:\s++|//[^\n]*+)*+("
    r"loc\(\#\w++\)"
    r"|%[\w$.\-]++(?:\#\d++)?+"
    rf"|(?:tensor|!tt\.ptr|!tt\.tensordesc){_BRACKETS}"
    r"|!?+[A-Za-z_][\w$.]*+"
    r"|0x[0-9a-fA-F]++"
    r"|-?+\d++(?:\.\d*+(?:[eE][-+]?+\d++)?+)?+"
    r"|->"
    r"|\"(?:[^\"\\\n]|\\.)*+\""
    r"|@(?:[\w$.]|-(?!>))++"
    r"|[\^\#][\w$.]++"
    r"|@\"(?:[^\"\\\n]|\\.)*+\""
    r"|\S)",
    re.ASCII,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """The position of a character, both counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def malformed(text: str, offset: int, message: str) -> MalformedError:
    """An error that begins with the line and column of `offset`."""
    line, column = line_and_column(text, offset)
    return MalformedError(f"line {line}, column {column}: {message}")


def string_of(token: str) -> str:
    """The characters of a quoted token, escapes resolved."""
    body = token[1:-1]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2]), body)


class Cursor:
    """The next token of a range of text; the empty token is the end."""

    def __init__(self, text: str, start: int = 0, end: int | None = None) -> None:
        self.text = text
        self._start = start
        self._end = len(text) if end is None else end
        self._tokens: list[str] = _TOKEN.findall(text, start, self._end)
        self._tokens.append("")
        self._at = 0

    @property
    def next(self) -> str:
        """The next token, which is not read yet."""
        return self._tokens[self._at]

    @property
    def after_next(self) -> str:
        """The token after the next one."""
        return self._tokens[self._at + 1] if self._tokens[self._at] else ""

    def take(self) -> str:
        """Read any one token; at the end an empty one, repeatedly."""
        token = self._tokens[self._at]
        if token:
            self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Read the next token if it is this one."""
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True

    def expect(self, token: str) -> None:
        """Read this token."""
        if self._tokens[self._at] != token:
            self.fail(f"expected {token}")
        self._at += 1

    def word(self, expected: str) -> str:
        """Read an identifier or keyword; `expected` names it in the error."""
        token = self._tokens[self._at]
        if not (token[:1].isalpha() or token[:1] == "_"):
            self.fail(f"expected {expected}")
        self._at += 1
        return token

    def integer(self) -> int:
        """Read a decimal integer of at most 20 digits."""
        token = self._tokens[self._at]
        if not token.lstrip("-").isdecimal() or len(token) > 20 or not token.isascii():
            self.fail("expected an integer")
        self._at += 1
        return int(token)

    def string(self) -> str:
        """Read a quoted string."""
        token = self._tokens[self._at]
        if len(token) < 2 or token[0] != '"':
            self.fail("expected a string")
        self._at += 1
        return string_of(token)

    def symbol(self) -> str:
        """Read the name of a function, `@name` or `@"name"`."""
        token = self._tokens[self._at]
        if len(token) < 2 or token[0] != "@":
            self.fail("expected the name of a function, @name")
        self._at += 1
        return string_of(token[1:]) if token[1] == '"' else token[1:]

    def between(self, opening: str, closing: str) -> str:
        """Read a balanced range, brackets included, and return its tokens joined."""
        start, depth = self._at, 0
        while token := self._tokens[self._at]:
            depth += (token == opening) - (token == closing)
            if depth <= 0:
                break
            self._at += 1
        if self.next != closing:
            self._at = start
            self.fail(f"expected {opening}...{closing}")
        self._at += 1
        return "".join(self._tokens[start : self._at])

    @property
    def place(self) -> int:
        """The number of the next token, for `offset` and `fail_at`."""
        return self._at

    def offset(self, place: int) -> int:
        """Offset in the text of the token with that number."""
        for number, found in enumerate(_TOKEN.finditer(self.text, self._start, self._end)):
            if number == place:
                return found.start(1)
        return self._end

    def fail(self, message: str, *, back: int = 0) -> NoReturn:
        """Raise MalformedError at the next token, or at the one that was read `back` tokens ago."""
        place = max(0, self._at - back)
        token = self._tokens[place]
        came = f"found {token[:40]}" if token else "the text ends here"
        self.fail_at(place, f"{message}, {came}")

    def fail_at(self, place: int, message: str) -> NoReturn:
        """Raise MalformedError at the token of that number."""
        raise malformed(self.text, self.offset(place), message)
