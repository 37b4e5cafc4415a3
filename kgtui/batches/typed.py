"""Text of the Batch screen's input: a path, and words such as `op=softmax cases=smoke`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from engine.errors import UsageError
from engine.model import Tier

EXAMPLE = "candidates/ cases=smoke"
_TIERS = {"smoke": (Tier.SMOKE,), "full": (Tier.SMOKE, Tier.FULL)}


@dataclass(frozen=True, kw_only=True)
class TypedBatch:
    """A batch as typed by the user."""

    path: str
    operator: str | None
    tiers: tuple[Tier, ...]


def parse_wanted(text: str) -> TypedBatch:
    """The words of a line; a path with spaces is in quotes.

    Raises:
        UsageError: there is no path or more than one, or a word is unknown.
    """
    paths, operator, tiers = list[str](), None, _TIERS["full"]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot be read: {error}; put a path with spaces in quotes") from error
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key == "op":
            operator = value
        elif equals and key == "cases":
            if value not in _TIERS:
                raise UsageError(f"cases={value} should be {' or '.join(_TIERS)}")
            tiers = _TIERS[value]
        else:
            paths.append(word)
    if len(paths) > 1:
        raise UsageError(f"expected one path, got {', '.join(paths)}; besides it, op=OP and cases={'|'.join(_TIERS)}")
    if not paths:
        raise UsageError(f"which candidates? type for example: {EXAMPLE}")
    return TypedBatch(path=paths[0], operator=operator, tiers=tiers)
