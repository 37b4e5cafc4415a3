"""Parses the text of a run filter: `op:softmax is:failed tail mask`.

A word with a colon filters by the field before it; other words are searched in the texts of a run.  An operator with
its source, `op:aten::softmax`, matches only that one; without it, any part of the name matches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import UsageError
from engine.model import Outcome
from sessions.rows import Result, RunFilter

HINT = "op:softmax file:v2 device:h100 tag:keep is:passed outcome:timeout session:7, or any words"
NAMES = ("op", "file", "device", "tag", "is", "outcome", "session")
_MOST_DIGITS = 18  # digits of a number that fits in the store


def read_filter(typed: str) -> RunFilter:
    """The filter of a typed text.

    Raises:
        UsageError: a name before a colon is unknown, or its value is invalid.
    """
    wanted, words = RunFilter(), []
    for word in typed.split():
        name, colon, value = word.partition(":")
        # aten::softmax and http://... are plain words
        if not colon or value.startswith((":", "/")):
            words.append(word)
        elif not value:
            raise UsageError(f"{word} needs a value behind the colon")
        else:
            wanted = _narrowed(wanted, name, value)
    return replace(wanted, text=" ".join(words)) if words else wanted


def with_word(typed: str, name: str, value: str) -> str:
    """The typed filter with one field set, in place of its earlier value."""
    kept = [word for word in typed.split() if word.partition(":")[0] != name or "::" in word]
    return " ".join([*kept, f"{name}:{value}"])


@dataclass(frozen=True, kw_only=True)
class _Choice:
    name: str
    values: tuple[str, ...]

    def refuse(self, value: str) -> UsageError:
        return UsageError(f"{self.name}:{value} is invalid; use one of {', '.join(self.values)}")


def _narrowed(wanted: RunFilter, name: str, value: str) -> RunFilter:
    match name:
        case "op" if "::" in value:
            return replace(wanted, problem=value)
        case "op":
            return replace(wanted, operator=value)
        case "file":
            return replace(wanted, file=value)
        case "device":
            return replace(wanted, device=value)
        case "tag":
            return replace(wanted, tag=value)
        case "is":
            return replace(wanted, result=Result(_chosen(_Choice(name=name, values=tuple(Result)), value)))
        case "outcome":
            return replace(wanted, outcome=Outcome(_chosen(_Choice(name=name, values=tuple(Outcome)), value)))
        case "session" if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
            return replace(wanted, session=int(value))
        case "session":
            raise UsageError(f"session:{value} is invalid; use the number of a session")
        case _:
            raise UsageError(f"unknown filter {name}:; use {', '.join(f'{known}:' for known in NAMES)} or plain words")


def _chosen(choice: _Choice, value: str) -> str:
    """The unique value that begins with these letters."""
    fitting = [known for known in choice.values if known.startswith(value.lower())]
    if value.lower() in fitting:
        return value.lower()
    if len(fitting) != 1:
        raise choice.refuse(value)
    return fitting[0]
