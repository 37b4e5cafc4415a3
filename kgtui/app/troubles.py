"""Troubles of the application, one sentence for each part of it."""

from __future__ import annotations

from collections.abc import Callable


class Troubles:
    """The last trouble of each part; `changed` is called when one is set."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._sentences: dict[str, str] = {}
        self._changed = changed

    def set(self, part: str, sentence: str) -> None:
        """Replace the trouble of this part."""
        self._sentences[part] = sentence
        self._changed()

    def clear(self, part: str) -> None:
        """This part works again."""
        if self._sentences.pop(part, ""):
            self._changed()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, in the order in which their parts first had one."""
        return tuple(self._sentences.values())
