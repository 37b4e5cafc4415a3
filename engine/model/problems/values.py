"""Arguments and results of an entry.  No torch here but for types."""

from __future__ import annotations

import enum
import keyword
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import torch

    Value: TypeAlias = (
        torch.Tensor
        | torch.dtype
        | bool
        | int
        | float
        | complex
        | str
        | "PointerArray"
        | "PlainObject"
        | list["Value"]
        | tuple["Value", ...]
        | dict[str, "Value"]
        | None
    )
    Arguments: TypeAlias = tuple[Value, ...]
    Outputs: TypeAlias = torch.Tensor | tuple[torch.Tensor, ...]
    Returned: TypeAlias = Outputs | list[torch.Tensor] | bool | int | float | complex | None


@dataclass(frozen=True, kw_only=True, eq=False)
class PointerArray:
    """Tensors that a candidate gets as one int64 tensor of their addresses, shape (n,), on the device of the case.

    Functions of a problem get this record itself.  Tensors that share memory, or repeat, are allowed.
    """

    tensors: tuple[torch.Tensor, ...]


class ObjectKind(enum.StrEnum):
    """Kind of class whose instances have nothing but named values."""

    DATACLASS = enum.auto()
    FROZEN_DATACLASS = enum.auto()
    NAMED_TUPLE = enum.auto()


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainObject:
    """A dataclass or named tuple: a candidate gets an instance of a class of this name, kind and these attributes.

    Functions of a problem get this record itself.
    """

    name: str
    kind: ObjectKind
    attributes: dict[str, Value]

    def __post_init__(self) -> None:
        require_names(self.name, self.kind, self.attributes)


def require_names(name: str, kind: ObjectKind, attributes: Collection[str]) -> None:
    """Check that a class of this name can have these attributes.

    Raises:
        ValueError: it cannot.
    """
    hidden = "_" if kind is ObjectKind.NAMED_TUPLE else "__"
    for word in (name, *attributes):
        if not word.isidentifier() or keyword.iskeyword(word):
            raise ValueError(f"{word!r} of class {name!r} is not a Python name")
    if forbidden := [word for word in attributes if word.startswith(hidden)]:
        raise ValueError(f"an attribute of {name} must not begin with {hidden}: {forbidden[0]}")
    if len(set(attributes)) != len(attributes):
        raise ValueError(f"{name} has an attribute twice")


def items_of(value: Value) -> Collection[Value]:
    """The items of a list, tuple, dict or PlainObject, in order; none of any other value."""
    if isinstance(value, PlainObject):
        value = value.attributes
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def map_items(value: Value, change: Callable[[Value], Value]) -> Value:
    """A list, tuple, dict or PlainObject with each item changed; any other value unchanged."""
    if isinstance(value, PlainObject):
        changed = {key: change(item) for key, item in value.attributes.items()}
        return PlainObject(name=value.name, kind=value.kind, attributes=changed)
    if isinstance(value, dict):
        return {key: change(item) for key, item in value.items()}
    if isinstance(value, list):
        return [change(item) for item in value]
    return tuple(change(item) for item in value) if isinstance(value, tuple) else value
