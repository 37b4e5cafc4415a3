"""Operators as they are typed: names, or patterns for many of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from engine.errors import UsageError

_GLOB = "*?["


def operators_named(typed: Sequence[str], names: Sequence[str], *, resolve: Callable[[str], str]) -> tuple[str, ...]:
    """The full names of operators, each once; a pattern represents all names that match it.

    Raises:
        UsageError: there is no such operator, or none matches.
    """
    found: dict[str, None] = {}
    for word in typed:
        if not any(sign in word for sign in _GLOB):
            found[resolve(word)] = None
            continue
        matching = [name for name in names if fnmatchcase(name, word)]
        if not matching:
            raise UsageError(f"no operator matches {word[:60]!r}; `kgtui problems list` lists them")
        found |= dict.fromkeys(matching)
    return tuple(found)
