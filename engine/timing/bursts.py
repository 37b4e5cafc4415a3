"""After the rounds of a case: bursts, for the time of a whole call, and graphs, as a check of the device time.

Both are timed by the parent's own clock, which no worker can access.
"""

from __future__ import annotations

from engine.timing.candidate_side import WorkerParticipant
from engine.timing.facts import Stretch
from engine.timing.participants import Entrant, Participants
from engine.timing.timed_sides import NotCapturedError

TAIL_SHARE = 0.2  # share of the case's time for bursts and graphs of all participants

_ROUND_TRIPS = 5
_LEAST_STRETCHES, _MOST_STRETCHES = 5, 7
_STRETCH_S = 0.004  # long compared with the variation of an exchange
_MOST_CALLS = 128
_MOST_GRAPH_CALLS = 1024
_MOST_RETURNED_BYTES = 1 << 30
_CLOCK_REPLAYS = 8


async def bursts(participants: Participants, *, case_s: float) -> None:
    """Back-to-back calls of all remaining participants; of a worker also bursts of one call, to time an exchange."""
    calls = calls_of_a_stretch(participants, case_s=case_s)
    for entrant in participants.present:
        slots = participants.slots_for(entrant, calls)
        count = _stretches(participants, entrant, len(slots), case_s=case_s)
        await participants.attempt(entrant, _bursts(entrant, slots, count))


async def graphs(participants: Participants, *, case_s: float, repeatable: bool) -> None:
    """Replays of a graph of all remaining participants; of the candidate also of a graph of one call.

    The difference between the two excludes the time of an exchange and of launching the graph.  A `repeatable`
    candidate changes no input, so that its graph may call a slot again and last longer.
    """
    calls = calls_of_a_stretch(participants, case_s=case_s)
    for entrant in participants.present:
        slots, facts = participants.slots_for(entrant, calls), entrant.facts
        count = _stretches(participants, entrant, len(slots), case_s=case_s)
        mine = entrant is participants.candidate
        longer = slots * (_repeats(participants, len(slots)) if mine and repeatable else 1)
        try:
            await participants.attempt(entrant, _graph(entrant, longer, count, facts.replays))
            if mine:
                facts.clock_replays = await _again(entrant, longer)
                await participants.attempt(entrant, _graph(entrant, slots[:1], count, facts.short_replays))
                facts.short_clock_replays = await _again(entrant, slots[:1])
        except NotCapturedError as error:
            for replays in (facts.replays, facts.short_replays, facts.clock_replays, facts.short_clock_replays):
                replays.clear()
            facts.notes.append(str(error))


async def round_trips(entrant: Entrant) -> None:
    """Times of exchanges with a worker without calls; the judge's own clock needs no such correction."""
    participant = entrant.participant
    if not isinstance(participant, WorkerParticipant):
        return
    await participant.round_trip_s()  # the first also ends the recording of single calls
    entrant.facts.round_trips_s = [await participant.round_trip_s() for _ in range(_ROUND_TRIPS)]


def calls_of_a_stretch(participants: Participants, *, case_s: float) -> int:
    """Number of calls of one burst or graph: enough to be long, few enough to be repeated."""
    most = min(participants.ring.slots, participants.most_at_once, _MOST_CALLS)
    call_s = participants.candidate.participant.device_s or participants.candidate.participant.call_s
    long_enough = int(_STRETCH_S / call_s) if call_s > 0 else most
    chunk_s, each_s = participants.candidate.participant.costs.line
    allowed_s = TAIL_SHARE * case_s / (2 * len(participants.present) * _LEAST_STRETCHES)
    affordable = int((allowed_s - chunk_s) / each_s) if each_s > 0 else most
    return max(1, min(most, max(2, min(long_enough, affordable))))


def _stretches(participants: Participants, entrant: Entrant, calls: int, *, case_s: float) -> int:
    """Number of repetitions of a burst or graph with this number of calls."""
    chunk_s, each_s = entrant.participant.costs.line
    cost_s = chunk_s + calls * each_s
    allowed_s = TAIL_SHARE * case_s / (2 * len(participants.present))
    return max(_LEAST_STRETCHES, min(_MOST_STRETCHES, int(allowed_s / cost_s) if cost_s > 0 else _MOST_STRETCHES))


async def _bursts(entrant: Entrant, slots: tuple[int, ...], count: int) -> None:
    await round_trips(entrant)
    await entrant.participant.burst(slots)  # discarded: it allocates the memory that the following bursts reuse
    entrant.facts.bursts += [await entrant.participant.burst(slots) for _ in range(count)]
    if len(slots) > 1 and not entrant.facts.trusted:
        entrant.facts.short_bursts += [await entrant.participant.burst(slots[:1]) for _ in range(count)]


async def _graph(entrant: Entrant, slots: tuple[int, ...], count: int, replays: list[Stretch]) -> None:
    await entrant.participant.capture(slots)
    await entrant.participant.replay(slots)  # the first uploads the graph
    replays += [await entrant.participant.replay(slots) for _ in range(count)]


async def _again(entrant: Entrant, slots: tuple[int, ...]) -> list[Stretch]:
    """Replays for the clock alone; a failure of the candidate ends the case."""
    participant = entrant.participant
    if not isinstance(participant, WorkerParticipant):
        return []
    return [await participant.replay_again(slots) for _ in range(_CLOCK_REPLAYS)]


def _repeats(participants: Participants, calls: int) -> int:
    """How often a graph may go over these slots: until it is long, or its outputs take too much memory."""
    call_s = participants.candidate.participant.device_s
    if call_s is None or call_s <= 0:
        return 1
    long_enough = round(_STRETCH_S / (call_s * calls))
    affordable = _MOST_RETURNED_BYTES // max(1, participants.facts.slot_bytes * calls)
    return max(1, min(long_enough, affordable, _MOST_GRAPH_CALLS // calls))
