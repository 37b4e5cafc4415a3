"""Functions that the rules share: a rule raises `RuleError` with a sentence; the reader adds the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from engine.machine.ir import Operation, Pointer, Scalar, Tensor, Type
from engine.machine.reader.types import type_text

Rule: TypeAlias = Callable[[Operation], None]


class RuleError(ValueError):
    """An operation breaks a rule of TTIR."""


def require(holds: bool, message: str) -> None:
    """Raise RuleError unless the condition holds."""
    if not holds:
        raise RuleError(message)


def shape_of(type_: Type) -> tuple[int, ...]:
    """The shape of a tensor; () for everything else."""
    return type_.shape if isinstance(type_, Tensor) else ()


def element_of(type_: Type) -> Type:
    """The element of a tensor; every other type is its own element."""
    return type_.element if isinstance(type_, Tensor) else type_


def is_integer(type_: Type) -> bool:
    """Whether the elements are integers, i1 and index included."""
    element = element_of(type_)
    return isinstance(element, Scalar) and not element.is_float


def is_float(type_: Type) -> bool:
    """Whether the elements are floating-point numbers."""
    element = element_of(type_)
    return isinstance(element, Scalar) and element.is_float


def is_pointer(type_: Type) -> bool:
    """Whether the elements are pointers to scalars."""
    element = element_of(type_)
    return isinstance(element, Pointer) and isinstance(element.pointee, Scalar)


def bits_of(type_: Type) -> int:
    """The width of an element; 64 for a pointer."""
    element = element_of(type_)
    return element.bits if isinstance(element, Scalar) else 64


def counted(operation: Operation, operands: int, results: int = 1) -> None:
    """Require this number of operands and results."""
    require(
        len(operation.operands) == operands and len(operation.results) == results,
        f"expected {operands} operands and {results} results",
    )


def same_shape(operation: Operation) -> None:
    """Require one shape of all operands and results."""
    shapes = {shape_of(value.type) for value in (*operation.operands, *operation.results)}
    require(len(shapes) <= 1, "expected operands and results of one shape")


def integer(operation: Operation, name: str) -> int:
    """An attribute that must be an integer."""
    value = operation.attributes.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuleError(f"expected the integer {name}")
    return value


def expect_type(found: Type, expected: Type, what: str) -> None:
    """Require this type."""
    if found is not expected and found != expected:
        raise RuleError(f"expected {what} of type {type_text(expected)}, found {type_text(found)}")


def expect_types(found: tuple[Type, ...], expected: tuple[Type, ...], what: str) -> None:
    """Require these types."""
    if found != expected:
        texts = ", ".join(map(type_text, expected)) or "nothing"
        raise RuleError(f"expected {what} of type {texts}, found {', '.join(map(type_text, found)) or 'nothing'}")
