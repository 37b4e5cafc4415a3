"""Participants in the measurement of a case, their slots, and the effect of a failure on the others."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.model import Outcome
from engine.timing.exchange import CaseEnded, Exchange, FailedHere
from engine.timing.facts import CaseFacts, SideFacts
from engine.timing.orders import Bounds, SlotRing, bounds
from engine.timing.timed_sides import BaselineParticipant, NotCapturedError, Participant

T = TypeVar("T")


@dataclass(kw_only=True, eq=False)
class Entrant:
    """A participant and its observations; when `out`, it is no longer timed and its notes have the reason."""

    participant: Participant
    facts: SideFacts
    out: bool = False


class Participants:
    """The candidate and its opponents, and the ring of slots on which they are called.

    For a warm cache, `warm_slots` is the number of slots that fit into it; None for a cold one.

    A baseline is called on the last content of the slots, of which the judge keeps copies.  Another worker is called on
    the slots of the same numbers, filled again in a block of its own: the address of a slot makes calls a little faster
    or slower, and must not make a difference.
    """

    def __init__(
        self,
        *,
        facts: CaseFacts,
        exchange: Exchange,
        candidate: Entrant,
        opponents: list[Entrant],
        ring: SlotRing,
        warm_slots: int | None,
    ) -> None:
        self.facts = facts
        self.clock = exchange.clock
        self.candidate = candidate
        self.opponents = opponents
        self.ring = ring
        self._warm_slots = warm_slots
        self._last: tuple[int, ...] = ()

    @property
    def present(self) -> list[Entrant]:
        """All participants that have not dropped out, the candidate first."""
        return [self.candidate, *self.rivals]

    @property
    def rivals(self) -> list[Entrant]:
        """The opponents that have not dropped out."""
        return [entrant for entrant in self.opponents if not entrant.out]

    @property
    def most_at_once(self) -> int:
        """The most slots that one burst or graph may use: all of them, or as many as a warm cache holds."""
        return self.ring.slots if self._warm_slots is None else max(1, min(self.ring.slots, self._warm_slots))

    @property
    def bounds(self) -> Bounds:
        """The fewest and most calls of a chunk, by the current cost of calls."""
        call_s = max(entrant.participant.call_s for entrant in self.present)
        return bounds(slots=self.ring.slots, call_s=call_s)

    def slots_for(self, entrant: Entrant, calls: int) -> tuple[int, ...]:
        """Slots of the next calls of this participant, about `calls` of them."""
        if isinstance(entrant.participant, BaselineParticipant) or (entrant is not self.candidate and self._last):
            return self._last
        self._last = self.ring.take(calls)
        return self._last

    def round_cost_s(self) -> tuple[float, float]:
        """Cost of a round of two chunks of every participant: without calls, and for each call of a chunk."""
        lines = [entrant.participant.costs.line for entrant in self.present]
        return 2 * sum(chunk_s for chunk_s, _ in lines), 2 * sum(call_s for _, call_s in lines)

    async def attempt(self, entrant: Entrant, work: Coroutine[Any, Any, T]) -> T | None:  # Any: never sent
        """Result of `work` for this participant; None if an opponent fails, which drops it.

        Raises:
            CaseEnded: the candidate or the judge failed.
            NotCapturedError: the candidate's graph cannot be used.
        """
        if entrant is self.candidate:
            return await work
        try:
            return await work
        except NotCapturedError as error:
            entrant.facts.notes.append(str(error))
        except FailedHere as ended:
            if isinstance(entrant.participant, BaselineParticipant) or ended.stop.outcome is not Outcome.ENGINE_ERROR:
                entrant.facts.notes.append(ended.stop.message)
            else:
                raise
        except CaseEnded as ended:
            if ended.stop.outcome is Outcome.ENGINE_ERROR:
                raise
            entrant.facts.notes.append(f"{ended.stop.outcome.value}: {ended.stop.message}")
        entrant.out = True
        return None
