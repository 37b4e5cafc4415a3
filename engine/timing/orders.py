"""Which slots are called next, how many at a time, and for how long: the arithmetic of a benchmark's budget.

Pure except for the random number generator that is passed in.  A candidate must not be able to count calls, so no
chunk's size follows from the one before; and a slow case loses calls and rounds, never the least that an interval
needs.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass

LEAST_ROUNDS, MOST_ROUNDS = 8, 20
LEAST_CALLS, MOST_CALLS = 3, 64
SLOW_CALL_S = 0.02
"""For calls that take longer than this one is enough for a chunk: its time is far above every overhead."""

_COMFORTABLE_CALLS = 5
_RECORDS = 48


class SlotRing:
    """The slots of a case in the order of their turns; a chunk takes the next few, all different."""

    def __init__(self, slots: int, *, rng: random.Random) -> None:
        self._slots = slots
        self._next = 0
        self._rng = rng
        self.taken = 0

    @property
    def slots(self) -> int:
        """Number of slots that take turns."""
        return self._slots

    @property
    def is_round_complete(self) -> bool:
        """Whether every slot has had its turn."""
        return self.taken >= self._slots

    def keep(self, slots: int) -> None:
        """Use only the first `slots` from now on, if calling all of them would take too long."""
        self._slots = max(1, min(slots, self._slots))
        self._next %= self._slots

    def take(self, calls: int) -> tuple[int, ...]:
        """The next slots, at most as many as there are."""
        calls = min(calls, self._slots)
        chosen = tuple((self._next + turn) % self._slots for turn in range(calls))
        self._next = (self._next + calls) % self._slots
        self.taken += calls
        return chosen

    def draw(self, about: int, bounds: Bounds) -> int:
        """A random number of calls: half to one and a half times `about`, inside the bounds."""
        low = max(bounds.least, min(about // 2, bounds.most))
        high = min(bounds.most, max(about + about // 2, low + 1))
        return self._rng.randint(min(low, high), high)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The fewest and the most calls of one chunk."""

    least: int
    most: int


def bounds(*, slots: int, call_s: float) -> Bounds:
    """Number of calls that a chunk may have, for calls that take `call_s`; each slot occurs once at most."""
    most = min(slots, MOST_CALLS)
    least = 1 if call_s > SLOW_CALL_S else LEAST_CALLS
    return Bounds(least=min(least, most), most=most)


class Costs:
    """Costs of chunks of one kind, as seconds for a chunk and seconds for each call in it."""

    def __init__(self) -> None:
        self._seconds_by_calls: list[tuple[int, float]] = []

    def add(self, calls: int, seconds: float) -> None:
        """Record one chunk."""
        self._seconds_by_calls = [*self._seconds_by_calls, (calls, seconds)][-_RECORDS:]

    def clear(self) -> None:
        """Forget all chunks: the next ones are of another kind."""
        self._seconds_by_calls = []

    @property
    def line(self) -> tuple[float, float]:
        """Fixed seconds of a chunk, and seconds of each call; the first is 0 while only one chunk size is known."""
        counts = [calls for calls, _ in self._seconds_by_calls]
        seconds = [spent for _, spent in self._seconds_by_calls]
        if not counts:
            return 0.0, 0.0
        proportional = sum(seconds) / max(1, sum(counts))
        if len(set(counts)) < 2:
            return 0.0, proportional
        slope, intercept = statistics.linear_regression(counts, seconds)
        if slope <= 0:
            return statistics.fmean(seconds), 0.0
        return (intercept, slope) if intercept > 0 else (0.0, proportional)


def rounds_within(remaining_s: float, done: int, *, chunk_s: float, call_s: float) -> int:
    """Total number of rounds: those that fit with enough calls in each, between the least and the most."""
    comfortable_s = chunk_s + _COMFORTABLE_CALLS * call_s
    if comfortable_s <= 0:
        return MOST_ROUNDS
    fitting = int(max(0.0, remaining_s) / comfortable_s)
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, done + fitting))


def calls_within(remaining_s: float, rounds: int, *, chunk_s: float, call_s: float, bounds: Bounds) -> int:
    """Number of calls of each chunk with which the remaining rounds fit into the remaining time."""
    if call_s <= 0:
        return bounds.most
    fitting = int((remaining_s / max(1, rounds) - chunk_s) / call_s)
    return max(bounds.least, min(bounds.most, fitting))
