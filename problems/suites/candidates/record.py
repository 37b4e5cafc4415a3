"""Records of a suite's candidates and of the result of reading a path; values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SuiteCandidate:
    """One source text for one task; `origin` is its file, with the row or entry if the file has several.

    `sample` is its number among those of the task, from its name or row; None if there is none.
    """

    task: str
    text: str
    origin: str
    sample: int | None = None


@dataclass(frozen=True, kw_only=True)
class SuiteCandidates:
    """The candidates of a path in order, and a sentence for each of the first files or rows that are not candidates."""

    candidates: tuple[SuiteCandidate, ...]
    complaints: tuple[str, ...] = ()
