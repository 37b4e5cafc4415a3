"""The order in which candidates are run: candidates of one operator run one after another on one engine.

An engine opens and calibrates the reference of a suite's task once for all runs of it in a row, which takes about as
long as one candidate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from sessions.candidates.checked import CheckedRow

Places: TypeAlias = tuple[int, ...]
"""Candidates of one operator with the same source, which share one run."""


class Turns:
    """The remaining candidates, each assigned to one engine."""

    def __init__(self, rows: Iterable[CheckedRow]) -> None:
        self._left: dict[str, list[Places]] = {}  # by operator, in the order of their first candidates
        for places, row in groups(rows):
            self._left.setdefault(row.candidate.problem, []).append(places)
        self._operator_by_engine: dict[int, str] = {}

    def next(self, engine: int) -> Places | None:
        """The next candidate of this engine's operator, else of one that no other engine runs; None if none is left."""
        if not self._left:
            return None
        others = {operator for number, operator in self._operator_by_engine.items() if number != engine}
        own = self._operator_by_engine.get(engine)
        free = [operator for operator in self._left if operator not in others]
        operator = own if own in self._left else next(iter(free or self._left))
        assert operator is not None  # `self._left` is not empty
        self._operator_by_engine[engine] = operator
        left = self._left[operator]
        places = left.pop(0)
        if not left:
            del self._left[operator]
        return places


def groups(rows: Iterable[CheckedRow]) -> list[tuple[Places, CheckedRow]]:
    """The places of candidates that share a verdict with the first row of each, in the order of those."""
    found: dict[tuple[str, str], list[CheckedRow]] = {}
    for row in rows:
        found.setdefault(key_of(row), []).append(row)
    return [(tuple(row.place for row in some), some[0]) for some in found.values()]


def key_of(row: CheckedRow) -> tuple[str, str]:
    """Key that candidates with the same verdict share: operator and source."""
    return row.candidate.problem, row.candidate.digest
