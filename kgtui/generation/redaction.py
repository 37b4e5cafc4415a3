"""Removes keys from the output of a service or an agent before it is stored or shown."""

from __future__ import annotations

REDACTED = "[key]"
MOST_ANSWER_CHARACTERS = 2_000_000
"""Limit of one answer; a longer one is not a kernel, and is cut."""

_SHORTEST_KEY = 8


def redacted(text: str, key: str) -> str:
    """The text without the key in it."""
    return text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text


class StreamRedactor:
    """Removes a key from a text that arrives in pieces, also if it is split between two of them.

    `characters` counts those returned.
    """

    def __init__(self, key: str) -> None:
        self.characters = 0
        self._key = key
        self._held = ""

    @property
    def is_too_long(self) -> bool:
        """Whether the text is longer than any kernel."""
        return self.characters > MOST_ANSWER_CHARACTERS

    def take(self, piece: str) -> str:
        """The text that can be shown so far."""
        text = redacted(self._held + piece, self._key)
        length = min(len(self._key) - 1, len(text)) if len(self._key) >= _SHORTEST_KEY else 0
        keep = next((size for size in range(length, 0, -1) if self._key.startswith(text[-size:])), 0)
        self._held = text[len(text) - keep :]
        self.characters += len(text) - keep
        return text[: len(text) - keep]

    def rest(self) -> str:
        """Text that was held back."""
        held, self._held = self._held, ""
        return held
