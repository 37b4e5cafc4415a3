"""Source locations: `#loc7 = loc("softmax.py":7:17)`, variable names and call sites, resolved on first use."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from engine.machine.errors import LimitError
from engine.machine.ir import SourceLocation
from engine.machine.reader.limits import Limits
from engine.machine.reader.tokens import Cursor, malformed, string_of

_ALIAS = re.compile(r"^(#[\w$.]++) = (.*+)$", re.MULTILINE)
_FILE = re.compile(r'loc\(("(?:[^"\\\n]|\\.)*+"):(\d{1,9}):(\d{1,9})\)')
_NAME = re.compile(r'loc\(("(?:[^"\\\n]|\\.)*+")\((#[\w$.]++)\)\)')
_CALL_SITE = re.compile(r"loc\(callsite\((#[\w$.]++) at (#[\w$.]++)\)\)")


class _Alias(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a definition that is not resolved yet."""

    offset: int
    text: str


class Locations:
    """Locations by their name, `#loc7`."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._aliases = {found[1]: _Alias(offset=found.start(2), text=found[2]) for found in _ALIAS.finditer(text)}
        self._resolved: dict[str, SourceLocation | None] = {}
        self._depth = 0

    def find(self, name: str) -> SourceLocation | None:
        """The location of that name; None if it is `loc(unknown)`.

        Raises:
            KeyError: no such name.
            MalformedError: its definition is not a location.
            LimitError: call sites nested too deeply.
        """
        if name not in self._resolved:
            alias = self._aliases[name]
            # A definition that refers to itself finds no location yet.
            self._resolved[name] = None
            self._resolved[name] = self._resolve(alias)
        return self._resolved[name]

    def read(self, cursor: Cursor) -> SourceLocation | None:
        """Read `loc(...)`; None for `loc(unknown)`."""
        token = cursor.next
        if token.startswith("loc("):
            cursor.take()
            return self._named(cursor, token[4:-1])
        cursor.expect("loc")
        cursor.expect("(")
        location = self._read_inside(cursor)
        cursor.expect(")")
        return location

    def _resolve(self, alias: _Alias) -> SourceLocation | None:
        text = alias.text
        if found := _FILE.fullmatch(text):
            return SourceLocation(file=string_of(found[1]), line=int(found[2]), column=int(found[3]))
        self._descend()
        try:
            if found := _CALL_SITE.fullmatch(text):
                return self._called(self._known(alias, found[1]), self._known(alias, found[2]))
            if found := _NAME.fullmatch(text):
                return _with_variable(self._known(alias, found[2]), string_of(found[1]))
            cursor = Cursor(self._text, alias.offset, alias.offset + len(text))
            location = self.read(cursor)
            if cursor.next:
                cursor.fail("expected the end of the line")
            return location
        finally:
            self._depth -= 1

    def _known(self, alias: _Alias, name: str) -> SourceLocation | None:
        try:
            return self.find(name)
        except KeyError:
            raise malformed(self._text, alias.offset, f"location {name} is not defined") from None

    def _named(self, cursor: Cursor, name: str) -> SourceLocation | None:
        try:
            return self.find(name)
        except KeyError:
            cursor.fail(f"location {name} is not defined", back=1)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > self._limits.callers:
            raise LimitError(f"source locations are nested more than {self._limits.callers} deep")

    def _read_inside(self, cursor: Cursor) -> SourceLocation | None:
        """Read the content of `loc(...)`."""
        self._descend()
        try:
            token = cursor.next
            if token == "unknown":
                cursor.take()
                return None
            if token == "callsite":
                return self._read_call_site(cursor)
            if token == "fused":
                return self._read_fused(cursor)
            if token.startswith("#"):
                return self._named(cursor, cursor.take())
            if token.startswith("loc"):
                return self.read(cursor)
            if token.startswith('"'):
                return self._read_file_or_name(cursor)
            cursor.fail("expected a location")
        finally:
            self._depth -= 1

    def _read_call_site(self, cursor: Cursor) -> SourceLocation | None:
        cursor.expect("callsite")
        cursor.expect("(")
        callee = self._read_inside(cursor)
        cursor.expect("at")
        caller = self._read_inside(cursor)
        cursor.expect(")")
        return self._called(callee, caller)

    def _read_fused(self, cursor: Cursor) -> SourceLocation | None:
        """The first of the fused locations that is known."""
        cursor.expect("fused")
        if cursor.next == "<":
            cursor.between("<", ">")
        cursor.expect("[")
        first = None
        while not cursor.accept("]"):
            location = self._read_inside(cursor)
            first = first or location
            if cursor.next != "]":
                cursor.expect(",")
        return first

    def _read_file_or_name(self, cursor: Cursor) -> SourceLocation | None:
        """`"softmax.py":7:17`, a range from there, or `"name"(location)`."""
        name = cursor.string()
        if cursor.accept("("):
            child = self._read_inside(cursor)
            cursor.expect(")")
            return _with_variable(child, name)
        if not cursor.accept(":"):
            return None
        line = cursor.integer()
        column = cursor.integer() if cursor.accept(":") else 1
        if cursor.accept("to"):
            while cursor.next == ":" or cursor.next.isdecimal():
                cursor.take()
        return SourceLocation(file=name, line=line, column=column)

    def _called(self, callee: SourceLocation | None, caller: SourceLocation | None) -> SourceLocation | None:
        """The callee's location with the caller's and those after it; the caller's if the callee's is unknown."""
        if callee is None or caller is None:
            return callee or caller
        callers = (*callee.callers, replace(caller, callers=()), *caller.callers)
        if len(callers) > self._limits.callers:
            raise LimitError(f"a source location has more than {self._limits.callers} callers")
        return replace(callee, callers=callers)


def _with_variable(location: SourceLocation | None, variable: str) -> SourceLocation | None:
    return replace(location, variable=variable) if location is not None else None
