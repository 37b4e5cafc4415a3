"""Extracts the parts of a long text that a slow pattern must search: those around a word that every match contains.

A pattern with many branches takes half a microsecond a character, and a literal may have millions of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

REACH_CHARACTERS = 300
MOST_CHARACTERS = 1 << 20
_SHORT_CHARACTERS = 2_000
_LONGER_IN_LOWER_CASE = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"


class TooMuchTextError(ValueError):
    """More of a text would have to be searched than is reasonable for source code."""


def passages(text: str, words: Sequence[str]) -> Iterator[str]:
    """The text near each of the `words`, which are in lower case; a short text with one of them as a whole.

    Raises:
        TooMuchTextError: these passages have more than `MOST_CHARACTERS` characters.
    """
    lowered = text.replace(_LONGER_IN_LOWER_CASE, "i").lower()
    found = [word for word in words if word in lowered]
    if found and len(text) <= _SHORT_CHARACTERS:
        yield text
        return
    read = 0
    for first, end in _merged(sorted(place for word in found for place in _places(lowered, word))):
        read += end - first
        if read > MOST_CHARACTERS:
            raise TooMuchTextError(f"more than {MOST_CHARACTERS:,} characters would have to be read")
        yield text[first:end]


def _places(lowered: str, word: str) -> Iterator[int]:
    """Places of the word, without those within the reach of the place before."""
    place = lowered.find(word)
    while place >= 0:
        yield place
        place = lowered.find(word, place + max(REACH_CHARACTERS - 2 * len(word), 1))


def _merged(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The ranges of characters around the places, with overlapping ones merged."""
    first = end = 0
    for place in places:
        if place - REACH_CHARACTERS > end:
            if end:
                yield first, end
            first = max(place - REACH_CHARACTERS, 0)
        end = place + 2 * REACH_CHARACTERS
    if end:
        yield first, end
