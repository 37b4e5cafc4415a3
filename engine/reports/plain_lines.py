"""Plain lines of a run, and their joining: a message that many kernels or cases have in common is one line.

Lines stay in their order, except that lines of cases and kernels that are beside a joined one may come before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

KERNEL, PROOF, FINDING = "kernel", "proof", "finding"

_LABEL_WIDTH = 9
_MOST_NAMED = 3
_BESIDE = frozenset({KERNEL, PROOF})  # stages that run beside each other report these


@dataclass(frozen=True, kw_only=True)
class PlainLine:
    """One state change: its subject, its new state, and the rest; the first two are one word each.

    `continued` lines follow with more about the same change.  Lines with the same `message`, which is text without
    what differs between them, are joined; `of` is the kernel, case or line of this one.
    """

    label: str
    state: str
    text: str
    continued: tuple[str, ...] = ()
    message: str = ""
    of: str = ""

    def __str__(self) -> str:
        first = f"{self.label:<{_LABEL_WIDTH - 1}} {self.state} {self.text}".rstrip()
        return "\n".join((first, *(f"{'':<{_LABEL_WIDTH}}{line}" for line in self.continued)))


class JoinedLines:
    """Joins lines with the same message; call `end` after the last line."""

    def __init__(self) -> None:
        self._held: dict[str, list[PlainLine]] = {}

    def add(self, line: PlainLine) -> Iterator[PlainLine]:
        """The lines that can be printed when this one was reported."""
        held = self._held.get(line.label)
        if held and line.message and (held[0].state, held[0].message) == (line.state, line.message):
            held.append(line)
            return
        if line.label in _BESIDE:
            yield from self._release(line.label)
        else:
            yield from self.end()
        if line.message:
            self._held[line.label] = [line]
        else:
            yield line

    def end(self) -> Iterator[PlainLine]:
        """The lines that were held back."""
        for label in tuple(self._held):
            yield from self._release(label)

    def _release(self, label: str) -> Iterator[PlainLine]:
        held = self._held.pop(label, [])
        if held:
            yield _joined(held)


def _joined(lines: list[PlainLine]) -> PlainLine:
    first = lines[0]
    others = list(dict.fromkeys(line.of for line in lines[1:] if line.of != first.of))
    if len(lines) == 1:
        return first
    named = ", ".join(others[:_MOST_NAMED]) + (", ..." if len(others) > _MOST_NAMED else "")
    count = f"{len(lines)} times in all" + (f", also {named}" if named else "")
    return replace(first, text=f"{first.text} ({count})")
