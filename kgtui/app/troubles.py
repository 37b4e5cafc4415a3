"""Current problems of the application, one sentence for each part of it."""

from __future__ import annotations

from collections.abc import Callable


class Troubles:
    """The latest problem of each part; `changed` is called when one is set."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._sentences: dict[str, str] = {}
        self._changed = changed

    def set(self, part: str, sentence: str) -> None:
        """Replace the problem of this part."""
        self._sentences[part] = sentence
        self._changed()

    def clear(self, part: str) -> None:
        """Remove the problem of this part, which works again."""
        if self._sentences.pop(part, ""):
            self._changed()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, in the order in which the parts first had one."""
        return tuple(self._sentences.values())
