"""Constants that a text assembles: "mat" + "mul", "".join(...), chr(109), reversed and encoded strings.

Nothing is run: each operation that is used in practice to hide a name is evaluated here on known values.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
from collections.abc import Callable

from engine.static.analysis.words import words

MOST_CHARACTERS = 1 << 16  # longest folded text; a literal may be as long as the file
_MOST_STEPS = 2000  # limits names that concatenate each other, which take exponential time
_DEPTH = 40

Value = str | bytes | int | list["Value"]
Lookup = Callable[[ast.Name], ast.expr | None]
"""The one expression that gives a name its value, if there is exactly one."""

_TEXT_METHODS = words(
    "lower upper strip lstrip rstrip replace removeprefix removesuffix format join decode encode title capitalize "
    "swapcase translate hex fromhex casefold"
)
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "b64decode": base64.b64decode,
    "standard_b64decode": base64.b64decode,
    "urlsafe_b64decode": base64.urlsafe_b64decode,
    "b32decode": base64.b32decode,
    "b16decode": base64.b16decode,
    "b85decode": base64.b85decode,
    "a85decode": base64.a85decode,
    "unhexlify": binascii.unhexlify,
    "a2b_base64": binascii.a2b_base64,
    "a2b_hex": binascii.unhexlify,
}
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Sub: operator.sub,
    ast.BitXor: operator.xor,
    ast.FloorDiv: operator.floordiv,
}


def fold(node: ast.AST | None, lookup: Lookup, unknown: str | None = None) -> Value | None:
    """Value of the expression; None if it cannot be determined.

    With `unknown`, unknown parts of a template are replaced by it.
    """
    try:
        return _Folder(lookup, unknown).fold(node, _DEPTH)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, UnicodeError):
        return None


class _Folder:
    def __init__(self, lookup: Lookup, unknown: str | None) -> None:
        self._lookup = lookup
        self._unknown = unknown
        self._steps = 0

    def fold(self, node: ast.AST | None, depth: int) -> Value | None:
        self._steps += 1
        if depth == 0 or self._steps > _MOST_STEPS:
            return None
        value = self._folded(node, depth)
        too_long = isinstance(value, str | bytes | list) and len(value) > MOST_CHARACTERS
        return None if too_long and not isinstance(node, ast.Constant | ast.Name) else value

    def _folded(self, node: ast.AST | None, depth: int) -> Value | None:
        match node:
            case ast.Constant(value=str() | bytes() | int() as value) if not isinstance(value, bool):
                return value
            case ast.Name():
                return self.fold(self._lookup(node), depth - 1)
            case ast.JoinedStr():
                return self._joined(node, depth - 1)
            case ast.BinOp():
                return self._operation(node, depth - 1)
            case ast.List() | ast.Tuple():
                items = [self.fold(item, depth - 1) for item in node.elts]
                return None if None in items else [item for item in items if item is not None]
            case ast.Subscript():
                return self._part(node, depth - 1)
            case ast.GeneratorExp() | ast.ListComp():
                return self._comprehension(node, depth - 1)
            case ast.Call():
                return self._call(node, depth - 1)
        return None

    def _joined(self, node: ast.JoinedStr, depth: int) -> str | None:
        text = ""
        for part in node.values:
            value = part.value if isinstance(part, ast.Constant) else self.fold(getattr(part, "value", None), depth)
            if value is None:
                if self._unknown is None:
                    return None
                value = self._unknown
            text += str(value)
        return text

    def _operation(self, node: ast.BinOp, depth: int) -> Value | None:
        left, right = self.fold(node.left, depth), self.fold(node.right, depth)
        if isinstance(node.op, ast.Add) and self._unknown is not None and (left is None) is not (right is None):
            known = left if right is None else right
            if isinstance(known, str):
                return known + self._unknown if right is None else self._unknown + known
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return left if right is None and self._unknown else self._formatted(left, right)
        match left, right:
            case (str(), str()) | (bytes(), bytes()) | (list(), list()) if isinstance(node.op, ast.Add):
                return left + right  # type: ignore[operator]  # the patterns make the two alike
            case (int(), int()) if isinstance(node.op, ast.Add):
                return left + right
            case (int(), int()) if type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](left, right)
            case (str() | bytes(), int()) if isinstance(node.op, ast.Mult) and len(left) * right <= MOST_CHARACTERS:
                return left * right
        return None

    @staticmethod
    def _formatted(text: str, value: Value | None) -> str | None:
        if value is None or "*" in text or any(digit in text for digit in "0123456789"):
            return None  # a width could make the text arbitrarily long
        _refuse_blowup(text, [value])
        return text % (tuple(value) if isinstance(value, list) else value)

    def _part(self, node: ast.Subscript, depth: int) -> Value | None:
        value = self.fold(node.value, depth)
        if not isinstance(value, str | bytes | list):
            return None
        if isinstance(node.slice, ast.Slice):
            ends = [self._bound(end, depth) for end in (node.slice.lower, node.slice.upper, node.slice.step)]
            return value[slice(*ends)]
        at = self._bound(node.slice, depth)
        return None if at is None else value[at]

    def _bound(self, node: ast.expr | None, depth: int) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            positive = self._bound(node.operand, depth)
            return None if positive is None else -positive
        value = self.fold(node, depth)
        return value if isinstance(value, int) else None

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, depth: int) -> Value | None:
        loop = node.generators[0]
        items = self.fold(loop.iter, depth)
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            return None
        if isinstance(items, bytes | str):
            items = list(items)
        if not isinstance(items, list):
            return None
        name, outer, found = loop.target.id, self._lookup, list[Value]()
        for item in items:
            if not isinstance(item, str | int):
                return None
            constant = ast.Constant(value=item)
            self._lookup = lambda asked, c=constant: c if asked.id == name else outer(asked)  # type: ignore[misc]  # the default
            value = self.fold(node.elt, depth)
            self._lookup = outer
            if value is None:
                return None
            found.append(value)
        return found

    def _call(self, node: ast.Call, depth: int) -> Value | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "format" and self._unknown is not None and isinstance(node.func, ast.Attribute):
            return self.fold(node.func.value, depth)  # the placeholders stay: their values are unknown
        values = [self.fold(argument, depth) for argument in node.args]
        if name == "map" and len(node.args) == 2 and isinstance(node.args[0], ast.Name):
            return self._mapped(node.args[0].id, values[1])
        if None in values:
            return None
        known = [value for value in values if value is not None]
        first = known[0] if known else None
        if name in _DECODERS and isinstance(first, str | bytes):
            return _DECODERS[name](first.encode() if isinstance(first, str) else first)
        if isinstance(node.func, ast.Attribute) and name in _TEXT_METHODS:
            return self._method(name, self.fold(node.func.value, depth), known)
        return _builtin(name, known)

    def _mapped(self, name: str, items: Value | None) -> Value | None:
        values = [_builtin(name, [item]) for item in items] if isinstance(items, list | bytes) else [None]
        return None if None in values else [value for value in values if value is not None]

    def _method(self, name: str, text: Value | None, known: list[Value]) -> Value | None:
        if name == "fromhex" and known and isinstance(known[0], str):
            return bytes.fromhex(known[0])
        if name in ("decode", "encode") and text is None and len(known) == 2:  # codecs.decode(text, "rot13")
            decoded = codecs.decode(known[0], str(known[1]))  # type: ignore[arg-type]  # a TypeError says no
            return decoded if isinstance(decoded, str | bytes) else None
        if isinstance(text, str):
            _refuse_blowup(text, known)
        if not isinstance(text, str | bytes) or name == "format":
            return text.format(*known) if isinstance(text, str) and ":" not in text else None
        if name == "join" and known:
            known = [list(known[0])] if isinstance(known[0], str) else known  # the characters of a string
        done = getattr(text, name)(*known)
        return done if isinstance(done, str | bytes) else None


def _refuse_blowup(text: str | bytes, values: list[Value]) -> None:
    """Raise if a short text and short values could make a long one, as "a".replace("a", b) does."""
    longest = max((_length(value) for value in values), default=0)
    if (len(text) + 1) * (longest + 1) > MOST_CHARACTERS << 4:
        raise ValueError("too long to assemble")


def _length(value: Value) -> int:
    if isinstance(value, list):
        return sum(_length(item) for item in value) + len(value)
    return len(value) if isinstance(value, str | bytes) else 20


def _builtin(name: str, known: list[Value]) -> Value | None:
    first = known[0] if known else None
    match name, first:
        case "chr", int():
            return chr(first)
        case "ord", str():
            return ord(first)
        case "str", str() | int():
            return str(first)
        case "bytes" | "bytearray", list():
            return bytes(item for item in first if isinstance(item, int))
        case (("list" | "tuple"), str() | bytes() | list()):
            return list(first)
        case "reversed", str() | bytes() | list():
            return list(reversed(first))
    return None
