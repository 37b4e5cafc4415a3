"""Times of a case's launches alone, from a process in which no Python of the candidate runs."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Sequence
from typing import Protocol

from engine import protocol
from engine.errors import EngineError
from engine.model import CacheState, Case
from engine.model.benchmark import Method
from engine.timing.candidate_side import WorkerParticipant
from engine.timing.exchange import CaseEnded, Exchange, Side
from engine.timing.facts import ChunkTimes, SideFacts
from engine.timing.rounds import RECORD_TRIES

KERNELS = "kernels"
_MEASURED_S = 0.12  # part of the 0.3 s budget of a case, which includes the first call, the tape and the slots
_FEWEST_CALLS, _MOST_CALLS = 2, 8  # calls in each half of a round
_LEAST_ROUNDS, _MOST_ROUNDS = 3, 8
_ALIKE = 0.01  # relative difference of rounds below which measuring stops
_DEADLINE_S = 20.0
_CLOSE_SLOTS_S = 10.0


class NotTimedError(Exception):
    """The launches of a case cannot be timed separately; the message has the reason."""


class KernelSource(Protocol):
    """Makes processes that execute the launches of a case, and nothing else."""

    async def side(self, case: Case, arranged: protocol.Arranged) -> Side:
        """A process with the tape of this case, whose slots the candidate's worker still has open.

        Raises:
            NotTimedError: the launches cannot be timed separately.
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
    """Times of the launches of a case, on the same slots as the candidate; its notes name missing ones.

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
        await _rounds(participant, facts, exchange, tuple(slots[:_MOST_CALLS]))
    except CaseEnded as ended:
        facts.rounds.clear()
        facts.notes.append(f"no kernel time: {ended.stop.message}")
    finally:
        if not participant.dead:
            with contextlib.suppress(EngineError):
                await side.ask(protocol.CloseSlots(id=protocol.new_id()), deadline_s=_CLOSE_SLOTS_S)
    return facts


async def _rounds(participant: WorkerParticipant, facts: SideFacts, exchange: Exchange, slots: tuple[int, ...]) -> None:
    """Make single calls until rounds agree or the time is up; the first call compiles, and does not count.

    It is repeated while the device's record of it is no evidence.
    """
    for _ in range(1 + RECORD_TRIES):
        await participant.single(slots[:1])
        if participant.method:
            break
    facts.method = Method.CUPTI if participant.method else Method.EVENTS
    facts.reason = participant.reason
    if not participant.method:
        facts.notes.append(f"the launches alone were timed by events: {participant.reason}")
    end_s, calls = exchange.clock() + _MEASURED_S, _FEWEST_CALLS
    while len(facts.rounds) < _LEAST_ROUNDS or not (
        exchange.clock() >= end_s or len(facts.rounds) == _MOST_ROUNDS or _agree(facts.rounds)
    ):
        began_s = exchange.clock()
        drawn = slots[:calls]
        facts.rounds.append((await participant.single(drawn), await participant.single(drawn)))
        calls = _calls_within(end_s - exchange.clock(), (exchange.clock() - began_s) / (2 * len(drawn)))


def _calls_within(remaining_s: float, call_s: float) -> int:
    """Number of calls in each half of the next round: as many as fit into half of the remaining time."""
    room = int(remaining_s / 2 / (2 * call_s)) if call_s > 0 else _MOST_CALLS
    return min(max(room, _FEWEST_CALLS), _MOST_CALLS)


def _agree(rounds: Sequence[tuple[ChunkTimes, ChunkTimes]]) -> bool:
    """Whether the typical call took the same in all rounds."""
    taken = [[one.typical_s or 0.0 for one in halves] for halves in rounds]
    each_s = [statistics.fmean(halves) for halves in taken]
    return max(each_s) - min(each_s) <= _ALIKE * min(each_s)
