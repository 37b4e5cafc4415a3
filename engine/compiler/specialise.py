"""From a recorded launch back to what Triton's compiler wants: types, constants and attributes by argument."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import triton.language as tl

from engine.errors import UnsupportedError
from engine.model import Launch

# Triton's JITFunction is not typed: kernels are Any throughout this file.


@dataclass(frozen=True, kw_only=True)
class Specialisation:
    """Arguments of `triton.compiler.ASTSource`, by argument name and position path."""

    signature: Mapping[str, str]
    constants: Mapping[tuple[int, ...], object]
    attributes: Mapping[tuple[int, ...], list[list[object]]]


def specialise(kernel: Any, launch: Launch, find: Callable[[str], Any]) -> Specialisation:
    """How `launch` specialises `kernel`; `find` turns the name of another kernel into it.

    Follows Triton's own rules: a constexpr or None is a constant, so is an integer 1 unless the
    kernel asks not to specialise it; pointers and integers divisible by 16 are marked so.

    Raises:
        UnsupportedError: an argument of a kind that is not captured.
    """
    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], object] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for parameter in kernel.params:
        name = parameter.name
        if name not in launch.signature:
            raise UnsupportedError(f"argument {name} of {launch.kernel} was not recorded")
        recorded = launch.signature[name]
        if recorded.startswith("("):
            raise UnsupportedError(f"argument {name} of {launch.kernel} is a tuple, which is not captured")
        specialised_to_one = recorded != "constexpr" and name in launch.constants and not parameter.do_not_specialize
        if parameter.is_constexpr or recorded == "constexpr" or specialised_to_one:
            signature[name] = "constexpr"
            constants[(parameter.num,)] = _constant(launch.constants.get(name, "None"), find)
            continue
        signature[name] = parameter.annotation_type or recorded
        aligned = not (parameter.do_not_specialize or parameter.do_not_specialize_on_alignment)
        if name in launch.divisible_by_16 and aligned:
            attributes[(parameter.num,)] = [["tt.divisibility", 16]]
    return Specialisation(signature=signature, constants=constants, attributes=attributes)


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
