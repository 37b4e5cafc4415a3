"""Words of findings on what a worker observed: lists that are cut, counts, and text of a candidate."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NAMED = 4


def times(number: int) -> str:
    """How often something was done."""
    return "once" if number == 1 else f"{number} times"


def listed(parts: Sequence[str], between: str = ", ") -> str:
    """The first few parts, and the number of the others."""
    left = len(parts) - _MOST_NAMED
    return between.join(parts[:_MOST_NAMED]) + (f"{between}and {left} more" if left > 0 else "")


def on_one_line(text: str) -> str:
    """Untrusted text on one line and without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
