"""Dataclasses and named tuples among the arguments of a task: converted to records for transport, and back.

A candidate's process gets instances of a class that is made from the attributes only, so a class with methods or other
attributes is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engine.model import ObjectKind, PlainObject, map_items
from engine.reference.harness import UnavailableError


@dataclasses.dataclass
class _Plain:
    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Frozen:
    value: int


class _Pair(NamedTuple):
    value: int


_GENERATED = {name for made in (_Plain, _Frozen, _Pair) for name in vars(made)} - {"value"}
_PARAMETERS = "__dataclass_params__"
_HARMLESS = {"__post_init__", "__orig_bases__", "__slots__"}  # not needed once an instance exists


class TaskObjects:
    """The classes of a task's arguments, registered at the first draw; the task's functions get instances of them."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, ObjectKind, tuple[str, ...]], type] = {}

    def plain(self, value: Any) -> Any:  # Any: nested values of the suite's code
        """The value with a PlainObject in place of each dataclass and named tuple in it.

        Raises:
            UnavailableError: a class has more than attributes, or two classes have the same name and attributes.
        """
        kind = _kind(value)
        if kind is None:
            return map_items(value, self.plain)
        names = value._fields if kind is ObjectKind.NAMED_TUPLE else [field.name for field in dataclasses.fields(value)]
        _require_plain(value, names)
        attributes = {name: self.plain(getattr(value, name)) for name in names}
        try:
            made = PlainObject(name=type(value).__name__, kind=kind, attributes=attributes)
        except ValueError as error:
            raise UnavailableError(f"an argument cannot be moved to a candidate's process: {error}") from error
        if self._classes.setdefault(_key(made), type(value)) is not type(value):
            raise UnavailableError(f"its arguments are of two classes {made.name} with the same attributes")
        return made

    def restored(self, value: Any) -> Any:  # Any: as above
        """The value with an instance of the original class in place of each PlainObject; no constructor is called.

        Raises:
            UnavailableError: no argument of that class has been drawn.
        """
        if not isinstance(value, PlainObject):
            return map_items(value, self.restored)
        own = self._classes.get(_key(value))
        if own is None:
            raise UnavailableError(f"the task has drawn no argument of class {value.name}")
        if value.kind is ObjectKind.NAMED_TUPLE:
            return tuple.__new__(own, map(self.restored, value.attributes.values()))
        made: object = object.__new__(own)
        for name, item in value.attributes.items():
            object.__setattr__(made, name, self.restored(item))
        return made


def _key(value: PlainObject) -> tuple[str, ObjectKind, tuple[str, ...]]:
    return value.name, value.kind, tuple(value.attributes)


def _kind(value: object) -> ObjectKind | None:
    """The kind of this object; None for any other value."""
    if isinstance(value, tuple):
        return ObjectKind.NAMED_TUPLE if hasattr(value, "_fields") else None
    if isinstance(value, PlainObject | type) or not dataclasses.is_dataclass(value):
        return None
    is_frozen = getattr(value, _PARAMETERS).frozen
    return ObjectKind.FROZEN_DATACLASS if is_frozen else ObjectKind.DATACLASS


def _require_plain(value: object, names: Sequence[str]) -> None:
    """Raise unless the object has these attributes and nothing else that a candidate could use."""
    if more := sorted(set(_others(value)) - set(names)):
        title = type(value).__name__
        raise UnavailableError(
            f"an argument of class {title} cannot be moved to a candidate's process: it has {', '.join(more)} besides "
            f"its fields {', '.join(names)}, and fields alone are moved"
        )


def _others(value: object) -> Iterator[str]:
    """Names in the object and its classes that Python does not generate itself."""
    yield from getattr(value, "__dict__", {})
    for one in type(value).__mro__:
        if one not in (object, tuple):
            yield from (name for name in vars(one) if name not in _GENERATED | _HARMLESS)
