"""Attributes: dictionaries, literals and the values of constants."""

from __future__ import annotations

from engine.machine.errors import LimitError
from engine.machine.ir import Attribute, Constant, Scalar, Tensor, Type
from engine.machine.reader.context import Context
from engine.machine.reader.numbers import blob_bits, literal_bits
from engine.machine.reader.tokens import Cursor

_NESTING = 8


def read_attributes(context: Context) -> dict[str, Attribute]:
    """Read `{name = value, ...}` if it is next."""
    return _dictionary(context, _NESTING) if context.cursor.next == "{" else {}


def read_properties(context: Context) -> dict[str, Attribute]:
    """Read `<{name = value, ...}>` of the generic form if it is next."""
    if context.cursor.next != "<":
        return {}
    context.cursor.expect("<")
    found = _dictionary(context, _NESTING)
    context.cursor.expect(">")
    return found


def read_constant(context: Context) -> tuple[Constant, Type]:
    """Read the value of `arith.constant` with its type."""
    cursor = context.cursor
    if cursor.next == "dense":
        return _dense(context)
    token = cursor.take()
    if token in ("true", "false"):
        type_: Type = context.type() if cursor.accept(":") else Scalar.I1
    else:
        cursor.expect(":")
        type_ = context.type()
    if not isinstance(type_, Scalar):
        cursor.fail("expected a scalar type", back=1)
    try:
        return Constant(bits=(literal_bits(token, type_),)), type_
    except ValueError as error:
        cursor.fail(str(error), back=1)


def _dictionary(context: Context, depth: int) -> dict[str, Attribute]:
    cursor = context.cursor
    cursor.expect("{")
    found: dict[str, Attribute] = {}
    while not cursor.accept("}"):
        if found:
            cursor.expect(",")
        name = cursor.string() if cursor.next.startswith('"') else cursor.word("the name of an attribute")
        if name in found:
            cursor.fail(f"attribute {name} is given twice", back=1)
        found[name] = _value(context, depth - 1) if cursor.accept("=") else True
    return found


def _value(context: Context, depth: int) -> Attribute:
    """Read one value; numbers are followed by their type or not."""
    cursor = context.cursor
    if depth < 0:
        raise LimitError(f"attributes are nested more than {_NESTING} deep")
    token = cursor.next
    if token in ("true", "false"):
        cursor.take()
        if cursor.accept(":"):
            context.type()
        return token == "true"
    if token[:1] == '"':
        return cursor.string()
    if token[:1] == "@":
        return cursor.symbol()
    if token[:1].isdecimal() or token[:1] == "-":
        return _number(context)
    match token:
        case "[":
            return _list(context, depth)
        case "{":
            return tuple(_dictionary(context, depth).items())
        case "array":
            return _array(context)
        case "dense":
            return _dense(context)[0]
        case "unit":
            cursor.take()
            return True
    if token[:1] == "#":
        return _opaque(cursor)
    return context.type()


def _number(context: Context) -> Attribute:
    cursor = context.cursor
    token = cursor.take()
    type_ = context.type() if cursor.accept(":") else Scalar.F64 if "." in token else Scalar.I64
    if not isinstance(type_, Scalar) or len(token) > 40:
        cursor.fail("expected a number", back=1)
    try:
        if not type_.is_float:
            return int(token, 0)
        return Constant(bits=(literal_bits(token, type_),)) if token.startswith("0x") else float(token)
    except ValueError:
        cursor.fail(f"{token} is not a number of this type", back=1)


def _list(context: Context, depth: int) -> tuple[Attribute, ...]:
    cursor = context.cursor
    cursor.expect("[")
    found: list[Attribute] = []
    while not cursor.accept("]"):
        if found:
            cursor.expect(",")
        found.append(_value(context, depth - 1))
    return tuple(found)


def _array(context: Context) -> tuple[Attribute, ...]:
    """Read `array<i32: 1, 0>`."""
    cursor = context.cursor
    cursor.expect("array")
    cursor.expect("<")
    element = context.type()
    found: list[Attribute] = []
    if cursor.next != ">":
        cursor.expect(":")
    while not cursor.accept(">"):
        if found:
            cursor.expect(",")
        token = cursor.take()
        try:
            found.append(_array_element(token, element))
        except ValueError:
            cursor.fail("expected a number", back=1)
    return tuple(found)


def _array_element(token: str, element: Type) -> Attribute:
    if token in ("true", "false"):
        return token == "true"
    if isinstance(element, Scalar) and element.is_float:
        return float(token)
    if len(token) > 24:
        raise ValueError(f"{token[:40]} has too many digits")
    return int(token)


def _opaque(cursor: Cursor) -> str:
    """Read an attribute of another dialect, `#name<...>`, as text."""
    name = cursor.take()
    return name + cursor.between("<", ">") if cursor.next == "<" else name


def _dense(context: Context) -> tuple[Constant, Type]:
    """Read `dense<...> : tensor<...>`."""
    cursor = context.cursor
    cursor.expect("dense")
    cursor.expect("<")
    blob = cursor.string() if cursor.next.startswith('"') else ""
    literals, shape = ([], ()) if blob or cursor.next == ">" else _literals(context)
    cursor.expect(">")
    cursor.expect(":")
    type_ = context.type()
    if not isinstance(type_, Tensor) or not isinstance(type_.element, Scalar):
        cursor.fail("expected a tensor of numbers", back=1)
    elements = 1
    for size in type_.shape:
        elements *= size
    try:
        return Constant(bits=_dense_bits(blob, literals, shape, type_, elements)), type_
    except ValueError as error:
        cursor.fail(str(error), back=1)


def _dense_bits(
    blob: str, literals: list[str], shape: tuple[int, ...], type_: Tensor, elements: int
) -> tuple[int, ...]:
    assert isinstance(type_.element, Scalar)
    if blob:
        if blob[:2] != "0x":
            raise ValueError("expected a blob, 0x...")
        return blob_bits(blob[2:], type_.element, elements)
    if shape and shape != type_.shape:
        raise ValueError(f"the literals have shape {shape}, not {type_.shape}")
    if not literals:
        raise ValueError("a constant has no elements")
    known: dict[str, int] = {}
    for token in literals:
        if token not in known:
            known[token] = literal_bits(token, type_.element)
    bits = tuple(known[token] for token in literals)
    return bits[:1] if len(set(bits)) == 1 else bits


def _literals(context: Context) -> tuple[list[str], tuple[int, ...]]:
    """Read a literal or nested lists of them, of any depth, without recursion; returns them and their shape."""
    cursor, literals = context.cursor, []
    if cursor.next != "[":
        return [cursor.take()], ()
    sizes: list[int] = []
    counts: list[int] = []
    while True:
        if cursor.accept("["):
            counts.append(0)
            if len(counts) > context.limits.rank:
                raise LimitError(f"a constant is nested more than {context.limits.rank} deep")
            continue
        if len(sizes) < len(counts):
            sizes.extend([-1] * (len(counts) - len(sizes)))
        literals.append(cursor.take())
        if len(literals) > context.limits.constant_elements:
            raise LimitError(f"a constant has more than {context.limits.constant_elements:,} elements")
        if len(counts) != len(sizes):
            cursor.fail("the lists of a constant are nested unevenly", back=1)
        counts[-1] += 1
        while cursor.accept("]"):
            _close_list(cursor, sizes, counts)
            if not counts:
                return literals, tuple(sizes)
            counts[-1] += 1
        cursor.expect(",")


def _close_list(cursor: Cursor, sizes: list[int], counts: list[int]) -> None:
    depth = len(counts) - 1
    if sizes[depth] not in (-1, counts[depth]):
        cursor.fail("the lists of a constant have different lengths", back=1)
    sizes[depth] = counts.pop()
