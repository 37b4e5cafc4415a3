"""The steps of one case until its rounds are done: arrange, warm up, choose the method, rounds of A, B, B, A.

Decides which side is called on which slots and when; results are computed elsewhere.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from engine import protocol
from engine.model import Outcome, Problem
from engine.model.benchmark import Method
from engine.model.counts import counted
from engine.timing.bursts import calls_of_a_stretch, round_trips
from engine.timing.candidate_side import WorkerParticipant
from engine.timing.exchange import CaseEnded, Exchange
from engine.timing.facts import ChunkTimes
from engine.timing.numbers.figures import accepted_us
from engine.timing.orders import LEAST_ROUNDS, MOST_CALLS, calls_within, rounds_within
from engine.timing.participants import Entrant, Participants
from engine.timing.timed_sides import BaselineParticipant, NotCapturedError, Participant
from engine.verdict.decide import Stop

MOST_SLOTS = 256
WARM_UP_S = 0.15  # time after which the clocks of an idle device have settled

RECORD_TRIES = 3  # further calls before the device's record counts as unreadable: the clocks differ at moments

_PROBE_CALLS = 4
_LEAST_RING = 4
_RING_SHARE = 0.15  # share of the case's time for calling every side on every slot once before timing
_WARM_UP_SHARE = 0.3  # upper bound as a share of the case's time
_PATIENCE = 10  # times the case's time, after which two rounds suffice


async def arranged_slots(
    exchange: Exchange, problem: Problem, case: str, *, most_bytes: int, workers: int
) -> protocol.Arranged:
    """Have the judge allocate slots for the case, one block for each worker."""
    command = protocol.Arrange(
        id=protocol.new_id(),
        problem=problem.id,
        case=case,
        most_slots=MOST_SLOTS,
        most_bytes=most_bytes,
        blocks=workers,
    )
    arranged, _ = await exchange.ask_judge(command, protocol.Arranged, "arranging slots")
    return arranged


async def prepare_participants(participants: Participants, arranged: protocol.Arranged) -> None:
    """Prepare every participant for the arranged case."""
    for entrant in participants.present:
        await participants.attempt(entrant, _get_ready(entrant.participant, participants.facts.case.name, arranged))


async def warm_up(participants: Participants, *, case_s: float) -> None:
    """Call every participant on every slot, and for long enough to measure their costs."""
    ring, began_s = participants.ring, participants.clock()
    calls = min(_PROBE_CALLS, participants.bounds.most)
    await _call_all(participants, calls)
    each_s = (participants.clock() - began_s) / calls
    if each_s > 0:
        ring.keep(max(_LEAST_RING, int(_RING_SHARE * case_s / each_s)))
    participants.facts.slots = ring.slots
    until_s = began_s + min(WARM_UP_S, _WARM_UP_SHARE * case_s)
    while not ring.is_round_complete or participants.clock() < until_s:
        await _call_all(participants, ring.draw(MOST_CALLS // 2, participants.bounds))


async def first_calls(participants: Participants) -> None:
    """One call of every participant, which may compile and tune, so that it does not count as a cost of others."""
    await _call_all(participants, 1)
    for entrant in participants.present:
        entrant.participant.costs.clear()


async def choose_method(participants: Participants, *, case_s: float) -> tuple[int, ...]:
    """Choose CUPTI if available, otherwise a graph, whose slots are returned, or else events.

    Raises:
        CaseEnded: the worker can read the device's record, but its record of the candidate's calls is no evidence.
    """
    await _await_record(participants)
    for entrant in participants.present:
        entrant.facts.method = Method.CUPTI if entrant.participant.method else Method.EVENTS
        if not entrant.participant.method:
            entrant.facts.reason = entrant.participant.reason
            entrant.facts.notes.append(f"CUPTI could not be used: {entrant.participant.reason}")
    if participants.candidate.facts.method is Method.CUPTI:
        return ()
    slots = participants.slots_for(participants.candidate, calls_of_a_stretch(participants, case_s=case_s))
    try:
        await _capture(participants.candidate.participant, slots)
    except NotCapturedError as error:
        participants.candidate.facts.notes.append(str(error))
        return ()
    for entrant in participants.rivals:
        await participants.attempt(entrant, _capture(entrant.participant, slots))
    for entrant in participants.present:
        entrant.facts.method = Method.GRAPH
        entrant.participant.costs.clear()
    return slots


def require_record(participants: Participants) -> None:
    """Refuse times of rounds of which the device's record covers less than half.

    Raises:
        CaseEnded: it does; what the calls put on the device is then unknown.
    """
    facts = participants.candidate.facts
    chunks = [batch for pair in facts.rounds for batch in pair]
    precise = sum(batch.precise for batch in chunks)
    if facts.method is Method.CUPTI and 2 * precise < len(chunks):
        lost = f"{len(chunks) - precise} of {counted(len(chunks), 'chunk')} of calls"
        raise _unrecorded(lost, participants.candidate.participant.reason)


async def rounds(
    participants: Participants, graph: tuple[int, ...], *, began_s: float, end_s: float, on_least: Callable[[], None]
) -> None:
    """Rounds of the candidate, its opponents, its opponents in reverse, and the candidate again.

    `on_least` is called after the fewest rounds that a case has.

    Raises:
        NotCapturedError: the graph that the rounds replay failed.
    """
    for entrant in participants.present:
        await participants.attempt(entrant, round_trips(entrant))
    planned, number = LEAST_ROUNDS, 0
    while number < planned:
        remaining_s = end_s - participants.clock()
        patient = participants.clock() - began_s < _PATIENCE * (end_s - began_s)
        if (number >= LEAST_ROUNDS and remaining_s <= 0) or (number >= 2 and not patient):
            break
        chunk_s, call_s = participants.round_cost_s()
        if graph:
            chunk_s, call_s = chunk_s + call_s * len(graph), 0.0
        if number <= 1:  # the first round measures the cost of a round
            planned = rounds_within(remaining_s, number, chunk_s=chunk_s, call_s=call_s)
        calls = calls_within(remaining_s, planned - number, chunk_s=chunk_s, call_s=call_s, bounds=participants.bounds)
        await _round(participants, calls, graph)
        number += 1
        if number == LEAST_ROUNDS:
            on_least()
    if number < LEAST_ROUNDS:
        participants.candidate.facts.notes.append(f"only {counted(number, 'round')}: more would take too long")


async def _await_record(participants: Participants) -> None:
    """Call everyone again while the device's record of the last calls is no evidence, although it can be read."""
    candidate = participants.candidate.participant
    assert isinstance(candidate, WorkerParticipant)
    if candidate.unrecorded:
        return
    for _ in range(RECORD_TRIES):
        if all(entrant.participant.method for entrant in participants.present):
            return
        await _call_all(participants, min(_PROBE_CALLS, participants.bounds.most))
    if not candidate.method:
        raise _unrecorded(f"{RECORD_TRIES} further chunks of calls", candidate.reason)


def _unrecorded(calls: str, reason: str) -> CaseEnded:
    message = f"the device has no usable record of {calls}: {reason}; time again when nothing else uses the device"
    return CaseEnded(Stop(outcome=Outcome.ENGINE_ERROR, message=message))


async def _round(participants: Participants, calls: int, graph: tuple[int, ...]) -> None:
    """One round; all of its chunks are on the same slots, with new content each time."""
    slots = graph or participants.slots_for(participants.candidate, participants.ring.draw(calls, participants.bounds))
    first = await _chunk(participants, participants.candidate, slots, is_graph=bool(graph))
    before: list[tuple[Entrant, ChunkTimes]] = []
    for entrant in participants.rivals:
        batch = await participants.attempt(entrant, _chunk(participants, entrant, slots, is_graph=bool(graph)))
        if batch is not None:
            before.append((entrant, batch))
    for entrant, batch in reversed(before):
        after = await participants.attempt(entrant, _chunk(participants, entrant, slots, is_graph=bool(graph)))
        if after is not None:
            entrant.facts.rounds.append((batch, after))
    last = await _chunk(participants, participants.candidate, slots, is_graph=bool(graph))
    participants.candidate.facts.rounds.append((first, last))


async def _chunk(participants: Participants, entrant: Entrant, slots: tuple[int, ...], *, is_graph: bool) -> ChunkTimes:
    """A call on each slot with its own times; or one replay of the graph on them, as one time of a call."""
    if not is_graph:
        return await entrant.participant.single(slots)
    facts, began = entrant.facts, participants.clock()
    stretch = await entrant.participant.replay(slots)
    facts.replays.append(stretch)
    entrant.participant.costs.add(stretch.calls, participants.clock() - began)
    beside_s = statistics.median(facts.round_trips_s) if facts.round_trips_s else 0.0
    each_us = accepted_us(facts.replays, beside_s, trusted=facts.trusted)[-1]
    return ChunkTimes(calls=stretch.calls, replay_us=() if each_us is None else (each_us,))


async def _call_all(participants: Participants, calls: int) -> None:
    """One chunk of every participant, not recorded."""
    for entrant in participants.present:
        await participants.attempt(entrant, entrant.participant.single(participants.slots_for(entrant, calls)))


async def _get_ready(participant: Participant, case: str, arranged: protocol.Arranged) -> None:
    if isinstance(participant, BaselineParticipant):
        await participant.prepare()
    elif isinstance(participant, WorkerParticipant):
        await participant.open_slots(case, arranged)


async def _capture(participant: Participant, slots: tuple[int, ...]) -> None:
    """Capture a graph and replay it once, so that its outputs are known to be right."""
    await participant.capture(slots)
    await participant.replay(slots)
