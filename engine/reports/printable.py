"""Text without control characters, for any terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text on one line, with its control characters escaped, so that no terminal interprets them."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text.replace("\t", "    "))
