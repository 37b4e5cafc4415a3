"""Possible operators of a candidate's name: `softmax.py`, `aten__softmax_3.py`, `softmax/sample_2.py`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_SAMPLE = re.compile(r"^(?P<name>.+?)[._-](?:sample|try|attempt|s)?[._-]?(?P<number>\d{1,6})$")
_NUMBER = re.compile(r"^(?:sample|try|attempt|s)?[._-]?(?P<number>\d{1,6})$")


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """Names of operators, the likeliest first, and the sample number; None if the name has none."""

    operators: tuple[str, ...]
    sample: int | None


def guesses(path: Path) -> Guesses:
    """Possible operators of a relative path, or of a name in a row."""
    stem = path.stem if path.suffix in (".py", ".txt", ".md") else path.name
    bare = _SAMPLE.match(stem)
    only_number = _NUMBER.match(stem)
    words = [stem, *([bare["name"]] if bare else []), *reversed(path.parts[:-1])]
    found = dict.fromkeys(spelling for word in words if word not in (".", "/") for spelling in _spellings(word))
    sampled = only_number or bare
    return Guesses(operators=tuple(found), sample=int(sampled["number"]) if sampled else None)


def _spellings(word: str) -> tuple[str, ...]:
    """The word, and the full name that it may abbreviate in a file name."""
    return (word, *(word.replace(sign, "::", 1) for sign in ("__", ".") if sign in word.strip("_.")))
