"""Converts a recorded launch to the input of Triton's compiler: types, constants and attributes by argument."""

from __future__ import annotations

import ast
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import triton.language as tl

from engine.errors import UnsupportedError
from engine.model import Launch

# Triton's JITFunction is not typed: kernels are Any throughout this file.

Types: TypeAlias = "str | tuple[Types, ...]"
"""The type of an argument, or those of a tuple's items."""


@dataclass(frozen=True, kw_only=True)
class Specialisation:
    """Arguments of `triton.compiler.ASTSource`, by argument name and position path."""

    signature: Mapping[str, Types]
    constants: Mapping[tuple[int, ...], object]
    attributes: Mapping[tuple[int, ...], list[list[object]]]


def specialise(kernel: Any, launch: Launch, find: Callable[[str], Any]) -> Specialisation:
    """How `launch` specialises `kernel`; `find` maps the `identity_of` another kernel to that kernel.

    Follows Triton's own rules: a constexpr or None is a constant, and so is an integer 1 unless the kernel excludes it
    from specialisation; pointers and integers divisible by 16 are marked so.

    Raises:
        UnsupportedError: an argument of a kind that is not captured.
    """
    signature: dict[str, Types] = {}
    constants: dict[tuple[int, ...], object] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for parameter in kernel.params:
        name = parameter.name
        if name not in launch.signature:
            raise UnsupportedError(f"argument {name} of {launch.kernel} was not recorded")
        recorded = launch.signature[name]
        aligned = not (parameter.do_not_specialize or parameter.do_not_specialize_on_alignment)
        if recorded.endswith(")"):
            signature[name] = types = _tuple_types(recorded)
            for path, part, kind in _parts((parameter.num,), name, types):
                if kind == "constexpr":
                    constants[path] = _constant(launch.constants.get(part, "None"), find)
                elif part in launch.divisible_by_16 and aligned:
                    attributes[path] = [["tt.divisibility", 16]]
            continue
        specialised_to_one = recorded != "constexpr" and name in launch.constants and not parameter.do_not_specialize
        if parameter.is_constexpr or recorded == "constexpr" or specialised_to_one:
            signature[name] = "constexpr"
            constants[(parameter.num,)] = _constant(launch.constants.get(name, "None"), find)
            continue
        signature[name] = parameter.annotation_type or recorded
        if name in launch.divisible_by_16 and aligned:
            attributes[(parameter.num,)] = [["tt.divisibility", 16]]
    return Specialisation(signature=signature, constants=constants, attributes=attributes)


def argument_names(special: Specialisation) -> Iterator[str]:
    """The arguments that the compiled function takes, in order; "sizes.2" is a part of a tuple."""
    for name, types in special.signature.items():
        yield from (part for _, part, kind in _parts((), name, types) if kind != "constexpr")


def _tuple_types(recorded: str) -> Types:
    """The types in the text of a tuple, which may have names: "('i32', P(x='fp32'))"."""
    try:
        return _read_types(ast.parse(recorded, mode="eval").body)
    except (ValueError, SyntaxError) as error:
        raise UnsupportedError(f"a tuple of types {recorded} is not captured") from error


def _read_types(node: ast.expr) -> Types:
    match node:
        case ast.Constant(value=str(kind)):
            return kind
        case ast.Tuple(elts=parts):
            return tuple(map(_read_types, parts))
        case ast.Call(func=ast.Name(id=name), keywords=fields) if not node.args:
            named: Any = namedtuple(name, [field.arg or "" for field in fields])  # type: ignore[misc]  # made of text
            types: Types = named(*(_read_types(field.value) for field in fields))
            return types
    raise ValueError(f"{ast.unparse(node)} is not a type")


def _parts(path: tuple[int, ...], name: str, types: Types) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """Position of each part of a tuple, its record, and its type."""
    if isinstance(types, str):
        yield path, name, types
        return
    for place, part in enumerate(types):
        yield from _parts((*path, place), f"{name}.{place}", part)


def _constant(text: str, find: Callable[[str], Any]) -> object:
    if text.startswith("@"):
        return find(text[1:])
    if text.startswith("tl."):
        if (named := getattr(tl, text[3:], None)) is None:
            raise UnsupportedError(f"constant {text} is not captured: this triton does not name it")
        return named
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        if text in ("inf", "-inf", "nan"):
            return float(text)
        raise UnsupportedError(f"constant {text} is not captured: it has no literal") from error
