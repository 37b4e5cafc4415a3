"""A candidate of a suite, and what reading a path gives.  Values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SuiteCandidate:
    """One source text for one task; `origin` is its file, with the row or entry where there are several in it.

    `sample` is the number that its name or row gives it among those of the task; None where none is given.
    """

    task: str
    text: str
    origin: str
    sample: int | None = None


@dataclass(frozen=True, kw_only=True)
class SuiteCandidates:
    """The candidates of a path in their order, and a sentence on each of the first files or rows that are none."""

    candidates: tuple[SuiteCandidate, ...]
    complaints: tuple[str, ...] = ()
