"""Times of a case's launches alone, from a process in which no Python of the candidate runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Protocol

from engine import protocol
from engine.errors import EngineError
from engine.model import CacheState, Case
from engine.model.benchmark import Method
from engine.timing.candidate_side import WorkerParticipant
from engine.timing.exchange import CaseEnded, Exchange, Side
from engine.timing.facts import SideFacts

KERNELS = "kernels"
_MEASURED_S = 0.12
_CALLS, _LEAST_ROUNDS, _MOST_ROUNDS = 8, 2, 8
_DEADLINE_S = 20.0
_TIDY_S = 10.0


class NotTimedError(Exception):
    """The launches of a case cannot be timed apart; the text has the reason."""


class KernelSource(Protocol):
    """Makes processes that execute the launches of a case, and nothing else."""

    async def side(self, case: Case, arranged: protocol.Arranged) -> Side:
        """A process that has the tape of this case, which the candidate's worker still has open slots of.

        Raises:
            NotTimedError: the launches cannot be timed apart.
            EngineError: a process failed.
        """
        ...


async def measured(
    source: KernelSource,
    exchange: Exchange,
    case: Case,
    arranged: protocol.Arranged,
    *,
    cache: CacheState,
    slots: Sequence[int],
) -> SideFacts:
    """Times of the launches of a case, on the same slots as the candidate; its notes name what is missing.

    Every output is verified as the candidate's are.  No failure here ends the case.
    """
    facts = SideFacts(name=KERNELS, trusted=True)
    try:
        side = await source.side(case, arranged)
    except (NotTimedError, EngineError) as error:
        facts.notes.append(f"no kernel time: {error}")
        return facts
    participant = WorkerParticipant(name=KERNELS, side=side, exchange=exchange, cache=cache, deadline_s=_DEADLINE_S)
    try:
        await participant.open_slots(case.name, arranged)
        await _rounds(participant, facts, exchange, tuple(slots[:_CALLS]))
    except CaseEnded as ended:
        facts.rounds.clear()
        facts.notes.append(f"no kernel time: {ended.stop.message}")
    finally:
        if not participant.dead:
            with contextlib.suppress(EngineError):
                await side.ask(protocol.CloseSlots(id=protocol.new_id()), deadline_s=_TIDY_S)
    return facts


async def _rounds(participant: WorkerParticipant, facts: SideFacts, exchange: Exchange, slots: tuple[int, ...]) -> None:
    """Calls one by one, for a fixed time; the first ones load and compile."""
    await participant.single(slots[:2])
    facts.method = Method.CUPTI if participant.method else Method.EVENTS
    facts.reason = participant.reason
    if not participant.method:
        facts.notes.append(f"the launches alone were timed by events: {participant.reason}")
    end_s = exchange.clock() + _MEASURED_S
    while len(facts.rounds) < _LEAST_ROUNDS or (len(facts.rounds) < _MOST_ROUNDS and exchange.clock() < end_s):
        facts.rounds.append((await participant.single(slots), await participant.single(slots)))
