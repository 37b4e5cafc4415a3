"""Functions that the families of forms share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from engine.machine.ir import Attribute, Scalar, Tensor, Type
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft

Form: TypeAlias = Callable[[Context], Draft]


def keyword(context: Context, allowed: Collection[str], what: str) -> str:
    """Read one of several keywords."""
    word = context.cursor.word(what)
    if word not in allowed:
        context.cursor.fail(f"expected {what}", back=1)
    return word


def with_element(type_: Type, element: Scalar) -> Type:
    """The type with another element: `tensor<4xi1>` of `tensor<4xf32>`, `i1` of `f32`."""
    return Tensor(shape=type_.shape, element=element) if isinstance(type_, Tensor) else element


def same_type(arity: int, flags: Callable[[Context], dict[str, Attribute]] = read_attributes) -> Form:
    """`%a, %b {...} : T`: operands and result have one type; `flags` reads what comes before the colon."""

    def read(context: Context) -> Draft:
        operands = context.operands(arity)
        attributes = flags(context)
        context.cursor.expect(":")
        return Draft(operands=operands, results=(context.type_of(*operands),), attributes=attributes)

    return read


def conversion(arity: int = 1, arrow: str = "->") -> Form:
    """`%a, %b {...} : T -> U`: the operands have one type, the result another."""

    def read(context: Context) -> Draft:
        operands = context.operands(arity)
        attributes = read_attributes(context)
        context.cursor.expect(":")
        context.type_of(*operands)
        context.cursor.expect(arrow)
        return Draft(operands=operands, results=(context.type(),), attributes=attributes)

    return read


def words_after(context: Context, names: dict[str, str]) -> dict[str, Attribute]:
    """Read clauses `name = word` in any order; `names` gives the attribute of each."""
    found: dict[str, Attribute] = {}
    while context.cursor.next in names:
        name = names[context.cursor.take()]
        context.cursor.expect("=")
        found[name] = context.cursor.word(f"a word for {name}")
    return found
