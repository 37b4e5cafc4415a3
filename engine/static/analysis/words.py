"""Word lists: long sets of names stay readable as running text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, separated by white space."""
    return frozenset(text.split())
