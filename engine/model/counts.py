"""Counts in texts for users."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the plural unless it is one: "1 case", "1,200 cases"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
