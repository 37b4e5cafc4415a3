"""Instances of dataclasses and named tuples, made from their attributes alone.

Their own classes are defined by files of a foreign suite, which neither judge nor worker imports.  A class made here
has the name and the attributes of the original and no methods but those that Python generates.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, make_dataclass
from functools import lru_cache
from typing import Any

from engine.model import ObjectKind, PlainObject, items_of, map_items

_MOST_CLASSES = 64


def with_instances(value: Any) -> Any:  # Any: nested values, in which objects become instances
    """The value with an instance in place of each PlainObject in it; unchanged if there is none."""
    if not _has_object(value):
        return value
    if isinstance(value, PlainObject):
        made = _class(value.name, value.kind, tuple(value.attributes))
        return made(*map(with_instances, value.attributes.values()))
    return map_items(value, with_instances)


def parts_given(value: Any) -> Iterable[Any]:  # Any: as above
    """The items of a list, tuple, dict or instance that an entry gets, in the order of its spec."""
    return (getattr(value, field.name) for field in fields(value)) if is_dataclass(value) else items_of(value)


def _has_object(value: Any) -> bool:  # Any: as above
    return isinstance(value, PlainObject) or any(map(_has_object, items_of(value)))


@lru_cache(maxsize=_MOST_CLASSES)
def _class(name: str, kind: ObjectKind, attributes: tuple[str, ...]) -> Callable[..., object]:
    """One class for all instances of equal form, so that instances of one call can be compared."""
    if kind is ObjectKind.NAMED_TUPLE:
        return namedtuple(name, attributes)
    return make_dataclass(name, attributes, frozen=kind is ObjectKind.FROZEN_DATACLASS)
