"""Context of reading the forms of operations: tokens, values in scope, types, attributes and locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec

from engine.errors import UnsupportedError
from engine.machine.ir import Attribute, Region, SourceLocation, Type, Value
from engine.machine.reader.limits import Limits
from engine.machine.reader.locations import Locations
from engine.machine.reader.tokens import Cursor
from engine.machine.reader.types import MalformedTypeError, TypeTable, type_text


class Jump(msgspec.Struct, frozen=True, kw_only=True):
    """A branch to a label, until its block is known."""

    label: str
    operands: tuple[Value, ...] = ()


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An operation without the names of its results."""

    operands: tuple[Value, ...] = ()
    results: tuple[Type, ...] = ()
    attributes: Mapping[str, Attribute] = msgspec.field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    jumps: tuple[Jump, ...] = ()


class Scope:
    """Values by name, in one function: a name is valid to the end of the region that defines it."""

    def __init__(self) -> None:
        self.count = 0
        self._values: dict[str, Value] = {}
        self._defined: list[list[str]] = [[]]

    def find(self, name: str) -> Value | None:
        """The value of `%name`; None if it is not defined here."""
        return self._values.get(name)

    def define(self, name: str, type_: Type, location: SourceLocation | None) -> Value | None:
        """Add a value; None if the name is already defined."""
        if name in self._values:
            return None
        value = self._values[name] = self.add(name[1:], type_, location)
        self._defined[-1].append(name)
        return value

    def add(self, name: str, type_: Type, location: SourceLocation | None) -> Value:
        """Add a value without a name."""
        value = Value(index=self.count, name=name, type=type_, location=location)
        self.count += 1
        return value

    def open(self) -> None:
        """Begin a region."""
        self._defined.append([])

    def close(self) -> None:
        """End a region, and drop the names in it."""
        for name in self._defined.pop():
            del self._values[name]


@dataclass(kw_only=True)
class Context:
    """The state of one reading; `read_region` comes from the module that reads regions."""

    cursor: Cursor
    types: TypeTable
    locations: Locations
    limits: Limits
    read_region: Callable[[Context, tuple[Value, ...], str], Region]
    scope: Scope = field(default_factory=Scope)
    operations: int = 0
    depth: int = 0

    def operand(self) -> Value:
        """Read `%name`."""
        token = self.cursor.take()
        value = self.scope.find(token)
        if value is None:
            self.cursor.fail(
                "value is not defined here" if token.startswith("%") else "expected a value, %name",
                back=int(token != ""),
            )
        return value

    def operands(self, count: int) -> tuple[Value, ...]:
        """Read this number of values, separated by commas."""
        values = [self.operand()]
        for _ in range(count - 1):
            self.cursor.expect(",")
            values.append(self.operand())
        return tuple(values)

    def operands_until(self, closing: str) -> tuple[Value, ...]:
        """Read values up to a closing bracket, which is read too."""
        values: list[Value] = []
        while not self.cursor.accept(closing):
            if values:
                self.cursor.expect(",")
            values.append(self.operand())
        return tuple(values)

    def define(self, name: str, type_: Type, location: SourceLocation | None) -> Value:
        """Add the value with the name in the token `name`."""
        if name[:1] != "%" or "#" in name:
            self.cursor.fail("expected a value, %name", back=1)
        value = self.scope.define(name, type_, location)
        if value is None:
            self.cursor.fail(f"value {name} is defined twice", back=1)
        return value

    def define_part(self, name: str, type_: Type, location: SourceLocation | None) -> Value:
        """Add one of several results, `%name#0`."""
        value = self.scope.define(name, type_, location)
        if value is None:
            self.cursor.fail(f"value {name} is defined twice", back=1)
        return value

    def unnamed(self, type_: Type, location: SourceLocation | None) -> Value:
        """Add a result without a name in the text."""
        return self.scope.add("", type_, location)

    def type(self) -> Type:
        """Read a type; `<...>` without a name is left to `short_type`."""
        token = self.cursor.take()
        try:
            return self.types.find(token)
        except MalformedTypeError as error:
            self.cursor.fail(str(error) if token else "expected a type", back=int(token != ""))

    def short_type(self, kind: str) -> Type:
        """Read `!tt.ptr<f32>`, or `<f32>` where the kind of type is known."""
        if self.cursor.next != "<":
            return self.type()
        text = self.cursor.between("<", ">")
        try:
            return self.types.short(kind, text)
        except MalformedTypeError as error:
            self.cursor.fail(str(error), back=1)

    def type_of(self, *values: Value) -> Type:
        """Read a type, which must be that of all these values."""
        found = self.type()
        for value in values:
            if value.type is not found and value.type != found:
                self.cursor.fail(f"%{value.name} has type {type_text(value.type)}, not {type_text(found)}", back=1)
        return found

    def types_of(self, values: tuple[Value, ...]) -> None:
        """Read the types of these values, separated by commas."""
        for place, value in enumerate(values):
            if place:
                self.cursor.expect(",")
            self.type_of(value)

    def type_list(self) -> tuple[Type, ...]:
        """Read `(T, T)` or a single type."""
        if not self.cursor.accept("("):
            return (self.type(),)
        found: list[Type] = []
        while not self.cursor.accept(")"):
            if found:
                self.cursor.expect(",")
            found.append(self.type())
        return tuple(found)

    def function_type(self, values: tuple[Value, ...]) -> tuple[Type, ...]:
        """Read `(T, T) -> T` where the first are the types of these values; returns those of the results."""
        self.cursor.expect("(")
        self.types_of(values)
        self.cursor.expect(")")
        self.cursor.expect("->")
        return self.type_list()

    def location(self) -> SourceLocation | None:
        """Read `loc(...)` if it is next; None without one, or for `loc(unknown)`."""
        token = self.cursor.next
        return self.locations.read(self.cursor) if token.startswith("loc(") or token == "loc" else None

    def refuse_operation(self) -> NoReturn:
        """Raise the error for an unknown operation: MalformedError if its name cannot be one."""
        token = self.cursor.next
        name = token.strip('"')
        if "." not in name or not name.replace(".", "").replace("_", "").isalnum():
            self.cursor.fail("expected an operation")
        raise UnsupportedError(f"operation {name[:60]} is not supported{self._source_of_line()}")

    def _source_of_line(self) -> str:
        """Source location of the operation on this line of text, in brackets; "" if there is none."""
        text, start = self.cursor.text, self.cursor.offset(self.cursor.place)
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        found = line.rfind("loc(#")
        if found < 0 or not line.endswith(")"):
            return ""
        try:
            location = self.locations.find(line[found + 4 : -1])
        except KeyError:
            return ""
        if location is None:
            return ""
        outermost = location.callers[-1] if location.callers else location
        return f" ({outermost.file}:{outermost.line})"
