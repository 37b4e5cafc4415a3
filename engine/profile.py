"""Time of a run by kind of work, counted and measured by the parent's clock."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.model.benchmark import Span


@dataclass(kw_only=True)
class Measured:
    """One piece of work; `elapsed_s` is set when it has ended."""

    elapsed_s: float = 0.0


@dataclass(kw_only=True)
class _Tally:
    count: int = 0
    busy_s: float = 0.0
    began_s: float
    ended_s: float


class Profile:
    """Collects spans; `clock` is in seconds, and the run began when it read `started`."""

    def __init__(self, clock: Callable[[], float], *, started: float) -> None:
        self._clock = clock
        self._started = started
        self._tallies: dict[str, _Tally] = {}

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[Measured]:
        """Measure the block as one more piece of the work called `name`."""
        began_s = self._clock() - self._started
        measured = Measured()
        try:
            yield measured
        finally:
            ended_s = self._clock() - self._started
            measured.elapsed_s = ended_s - began_s
            self._add(name, began_s, ended_s)

    def note(self, name: str, began: float, ended: float) -> None:
        """Add one more piece of work called `name`, by times of the clock."""
        self._add(name, began - self._started, ended - self._started)

    def _add(self, name: str, began_s: float, ended_s: float) -> None:
        tally = self._tallies.setdefault(name, _Tally(began_s=began_s, ended_s=ended_s))
        tally.count += 1
        tally.began_s = min(tally.began_s, began_s)
        tally.busy_s += ended_s - began_s
        tally.ended_s = max(tally.ended_s, ended_s)

    def spans(self) -> tuple[Span, ...]:
        """Measured spans, ordered by the beginning of the kinds of work; of two at once the longer first."""
        ordered = sorted(self._tallies.items(), key=lambda item: (item[1].began_s, -item[1].ended_s))
        return tuple(
            Span(name=name, count=tally.count, busy_s=tally.busy_s, began_s=tally.began_s, ended_s=tally.ended_s)
            for name, tally in ordered
        )
