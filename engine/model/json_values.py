"""Records as JSON values and back: read-only mappings, and floats that JSON cannot represent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

_FLOAT = "float"  # {"float": "inf"} is how infinity is written

Plain: TypeAlias = Any  # Any: JSON values of every shape


def written(record: object) -> Plain:
    """The record as values that JSON can represent."""
    return _written(msgspec.to_builtins(record, enc_hook=_mapping))


def read(plain: Plain) -> Plain:
    """The values that `written` made of a record, to be converted to its type.

    Raises:
        ValueError: an entry that should be a float is not one.
    """
    if isinstance(plain, dict):
        if plain.keys() == {_FLOAT}:
            return float(plain[_FLOAT])
        return {key: read(value) for key, value in plain.items()}
    return [read(value) for value in plain] if isinstance(plain, list) else plain


def _written(plain: Plain) -> Plain:
    if isinstance(plain, float) and not math.isfinite(plain):
        return {_FLOAT: str(plain)}
    if isinstance(plain, dict):
        return {key: _written(value) for key, value in plain.items()}
    return [_written(value) for value in plain] if isinstance(plain, list | tuple) else plain


def _mapping(value: object) -> dict[object, object]:
    """A read-only mapping of a record as a dict, for the encoder."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a record of values cannot hold a {type(value).__name__}")
