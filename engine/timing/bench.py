"""The benchmark of one run: case after case, each timed against its baselines, and summarised at the end.

The parent's side of the clock.  It makes no measurement itself: it requests them from judge and worker, keeps a clock
that neither can access, and leaves every number to pure functions.  No slots stay allocated after a case, however it
ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from dataclasses import replace
from functools import partial
from typing import Protocol

from engine import protocol
from engine.errors import EngineError
from engine.model import BenchmarkPlan, CacheState, Case, Finding, Outcome, Problem
from engine.model.benchmark import (
    CANDIDATE,
    OTHER,
    CaseBenchmark,
    CaseEstimate,
    Comparison,
    Method,
    Summary,
)
from engine.timing import bursts, conclusion, kernel_times, rounds
from engine.timing.candidate_side import WorkerParticipant
from engine.timing.exchange import CaseEnded, Exchange
from engine.timing.facts import CaseFacts, SideFacts
from engine.timing.numbers.statistics import summarise
from engine.timing.orders import SlotRing
from engine.timing.participants import Entrant, Participants
from engine.timing.timed_candidates import TimedCandidate, TimedWorker
from engine.timing.timed_device import TimedDevice
from engine.timing.timed_sides import BaselineParticipant, NotCapturedError
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

_WARM_SHARE = 4  # share of the L2 cache: the source of the slots passes through it too
_DEADLINE_S = 120.0
_TIMED_AGAIN = (Outcome.ENGINE_ERROR, Outcome.CRASHED, Outcome.TIMEOUT)
"""Outcomes after which a case is timed once more: a process may have been killed or delayed from outside."""
_CLOSE_SLOTS_S = 10.0


class Listener(Protocol):
    """Receives the results of a benchmark as they come."""

    def case_estimated(self, estimate: CaseEstimate) -> None:
        """Take the times of a case that is still being timed."""
        ...

    def case_timed(self, benchmark: CaseBenchmark, findings: tuple[Finding, ...]) -> None:
        """Take the record of a case, and its findings."""
        ...


class Bench:
    """Times the cases of a plan; `run` is called once.

    `other` is timed against the candidate in the same interleaving under the name OTHER.
    """

    def __init__(
        self,
        plan: BenchmarkPlan,
        problem: Problem,
        *,
        candidate: TimedCandidate,
        other: TimedCandidate | None = None,
        exchange: Exchange,
        device: TimedDevice,
        rng: random.Random,
        listener: Listener,
    ) -> None:
        self._plan = plan
        self._problem = problem
        self._kernels = candidate.kernels
        self._timed_workers = [TimedWorker(one) for one in (candidate, other) if one is not None]
        self._exchange = exchange
        self._device = device
        self._rng = rng
        self._listener = listener
        self._longest_s = 0.0
        self.left_out: tuple[Case, ...] = ()
        self._comparisons: dict[str, dict[str, Comparison]] = {}

    async def run(self, *, end_s: float = math.inf) -> None:
        """Time every case; stops early if the candidate's worker has exited and is not replaced.

        Cases that would end after `end_s`, by the clock of the exchange, are `left_out`.
        """
        for number, case in enumerate(self._plan.cases):
            if number and self._exchange.clock() + self._longest_s > end_s:
                self.left_out = self._plan.cases[number:]
                break
            for timed_worker in self._timed_workers:
                await timed_worker.refill()
            if self._timed_workers[0].side is None:
                break
            benchmark, findings = await self._timed_case(case)
            for comparison in benchmark.comparisons:
                self._comparisons.setdefault(comparison.baseline, {})[case.name] = comparison
            self._longest_s = max(self._longest_s, benchmark.elapsed_s)
            self._listener.case_timed(benchmark, findings)

    def summaries(self) -> tuple[Summary, ...]:
        """One for each baseline that some case was compared with, in order of occurrence."""
        rng = random.Random(self._rng.getrandbits(64))
        return tuple(
            summarise(baseline, by_case, len(self._plan.cases), rng) for baseline, by_case in self._comparisons.items()
        )

    async def _timed_case(self, case: Case) -> tuple[CaseBenchmark, tuple[Finding, ...]]:
        """The record of a case and its findings; timed once more if a process exited or did not reply."""
        first = await self._case(case)
        if first[0].outcome not in _TIMED_AGAIN:
            return first
        for timed_worker in self._timed_workers:
            await timed_worker.refill()
        return first if self._timed_workers[0].side is None else await self._case(case)

    async def _case(self, case: Case) -> tuple[CaseBenchmark, tuple[Finding, ...]]:
        began = self._exchange.clock()
        names = (OTHER, *self._plan.baselines) if len(self._timed_workers) > 1 else self._plan.baselines
        stored = {name: self._device.stored_us(case.name, name) for name in names}
        facts = CaseFacts(
            case=case,
            cache=self._plan.cache,
            candidate=SideFacts(name=CANDIDATE),
            own=self._kernels.names | {launch.kernel for launch in self._kernels.launches(case.name)},
            native=self._kernels.native,
            stored_us_by_baseline={name: time_us for name, time_us in stored.items() if time_us is not None},
        )
        workers = [
            self._worker(number, name) for number, name in enumerate((CANDIDATE, OTHER)[: len(self._timed_workers)])
        ]
        stop: Stop | None = None
        try:
            await self._measure(facts, workers)
        except CaseEnded as ended:
            stop = ended.stop
        finally:
            # Shielded: a cancelled run must also free its slots on the device.
            late = await asyncio.shield(asyncio.create_task(self._close_all_slots(workers)))
        mine = workers[0]
        assert mine is not None  # checked by `run`
        facts.late, facts.calls, facts.verified = mine.late, mine.calls, mine.verified
        facts.kernels_ns, facts.nodes = mine.kernels_ns, mine.nodes
        stop, elapsed_s = stop or late, self._exchange.clock() - began
        if stop is not None:
            benchmark, findings = conclusion.of_ended(facts, stop, elapsed_s)
        else:
            # The bootstrap draws hundreds of thousands of numbers, too many for SystemRandom.
            rng = random.Random(self._rng.getrandbits(64))
            benchmark, findings = conclusion.of_timed(facts, self._problem, self._device.peaks, elapsed_s, rng)
        return replace(benchmark, launches=self._kernels.launches(case.name)), findings

    async def _measure(self, facts: CaseFacts, workers: list[WorkerParticipant | None]) -> None:
        arranged = await rounds.arranged_slots(
            self._exchange,
            self._problem,
            facts.case.name,
            most_bytes=self._device.slot_bytes,
            workers=len(workers),
        )
        facts.slots, facts.slot_bytes = arranged.layouts[0].slots, arranged.slot_bytes
        facts.l2_bytes = arranged.l2_bytes
        participants = self._participants(facts, workers, arranged)
        await rounds.prepare_participants(participants, arranged)
        await rounds.first_calls(participants)
        # Counted from here: the first calls may compile and are not part of the measuring time.
        began_s, case_s = self._exchange.clock(), self._plan.case_s
        await rounds.warm_up(participants, case_s=case_s)
        graph = await rounds.choose_method(participants, case_s=case_s)
        facts.before = self._device.state()
        end_s = began_s + (1 - bursts.TAIL_SHARE) * case_s
        estimate = partial(self._estimate, facts)
        try:
            await rounds.rounds(participants, graph, began_s=began_s, end_s=end_s, on_least=estimate)
        except NotCapturedError as error:
            graph = ()
            _forget_graphs(participants, str(error))
            await rounds.rounds(participants, graph, began_s=began_s, end_s=end_s, on_least=estimate)
        rounds.require_record(participants)
        await bursts.bursts(participants, case_s=case_s)
        if not graph:
            await bursts.graphs(participants, case_s=case_s, repeatable=not self._problem.mutates)
        facts.after = self._device.state()
        if self._kernels.source is not None:
            facts.kernels = await kernel_times.measured(
                self._kernels.source, self._exchange, facts.case, arranged, cache=self._plan.cache,
                slots=range(participants.most_at_once),
            )  # fmt: skip
        for entrant in (participants.candidate, *participants.opponents):
            entrant.facts.notes += entrant.participant.notes
            entrant.facts.reason = entrant.participant.reason

    def _estimate(self, facts: CaseFacts) -> None:
        estimate = conclusion.estimate_of(facts, random.Random(self._rng.getrandbits(64)))
        if estimate is not None:
            self._listener.case_estimated(estimate)

    def _participants(
        self, facts: CaseFacts, workers: list[WorkerParticipant | None], arranged: protocol.Arranged
    ) -> Participants:
        """The candidate, another worker, the baselines of the plan."""
        mine = workers[0]
        assert mine is not None
        opponents: list[Entrant] = []
        for other in workers[1:]:
            side = SideFacts(name=OTHER)
            facts.baselines.append(side)
            if other is None:
                side.notes.append("its worker exited and was not replaced")
            else:
                opponents.append(Entrant(participant=other, facts=side))
        for name in self._plan.baselines:
            side = SideFacts(name=name, trusted=True)
            facts.baselines.append(side)
            participant = BaselineParticipant(name=name, exchange=self._exchange, cache=self._plan.cache)
            opponents.append(Entrant(participant=participant, facts=side))
        warm, layout = self._plan.cache is CacheState.WARM, arranged.layouts[0]
        return Participants(
            facts=facts,
            exchange=self._exchange,
            candidate=Entrant(participant=mine, facts=facts.candidate),
            opponents=opponents,
            ring=SlotRing(max(1, layout.slots), rng=self._rng),
            warm_slots=arranged.l2_bytes // (_WARM_SHARE * max(1, layout.stride)) if warm else None,
        )

    def _worker(self, number: int, name: str) -> WorkerParticipant | None:
        side = self._timed_workers[number].side
        if side is None:
            return None
        return WorkerParticipant(
            name=name,
            side=side,
            exchange=self._exchange,
            cache=self._plan.cache,
            deadline_s=_DEADLINE_S,
            block=number,
            tuning_s=self._plan.tuning_s,
            unrecorded=side.unrecorded,
        )

    async def _close_all_slots(self, workers: list[WorkerParticipant | None]) -> Stop | None:
        """Close the slots of all workers and the judge; returns a failure of the candidate's worker, if any."""
        stop: Stop | None = None
        for timed_worker, participant in zip(self._timed_workers, workers, strict=True):
            if participant is None or participant.side is not timed_worker.side:
                continue
            if not participant.dead:
                try:
                    await participant.side.ask(protocol.CloseSlots(id=protocol.new_id()), deadline_s=_CLOSE_SLOTS_S)
                except EngineError as error:
                    await participant.side.clear()
                    participant.dead = True
                    if participant.name == CANDIDATE:
                        stop = outcome_mapping.of_worker_error(error, "while releasing the slots")
            if participant.dead:
                timed_worker.side = None
        with contextlib.suppress(EngineError):  # a judge that has exited holds no slots
            await self._exchange.ask_judge_quietly(protocol.FreeSlots(id=protocol.new_id()))
        return stop


def _forget_graphs(participants: Participants, why: str) -> None:
    """Continue with events, as if no graph had been captured."""
    participants.candidate.facts.notes.append(why)
    for entrant in participants.present:
        entrant.facts.method = Method.EVENTS
        entrant.facts.rounds.clear()
        entrant.facts.replays.clear()
        entrant.participant.costs.clear()
