"""Text that any terminal shows as it is."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text on one line, with its control characters spelled out, so that no terminal obeys them."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text.replace("\t", "    "))
