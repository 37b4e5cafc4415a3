"""Occurrences of a word in lines of code; shared by the source and its IR."""

from __future__ import annotations

from collections.abc import Iterable


def occurrences(sought: str, lines: Iterable[str], *, first: int = 0) -> list[tuple[int, int]]:
    """Line and column of every occurrence in order, lines counted from `first`, columns from zero.

    The search is case-sensitive only if `sought` has capital letters.  The empty text occurs nowhere.
    """
    if not sought:
        return []
    # Not casefold, which changes the length of some letters and so the columns.
    fold = _lower if sought == _lower(sought) else str
    places = []
    for number, line in enumerate(map(fold, lines), start=first):
        column = line.find(sought)
        while column >= 0:
            places.append((number, column))
            column = line.find(sought, column + len(sought))
    return places


def _lower(text: str) -> str:
    """Lower case in as many characters; a letter that would become two is unchanged."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
