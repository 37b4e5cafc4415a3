"""The stage of a run that verifies: every case runs as soon as its kernels are ready, reported in that order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from engine.model import Case, CaseResult, Outcome, SuiteOrigin, Tier, events
from engine.processes.candidate_session import CandidateSession
from engine.run.ahead.readiness import Readiness
from engine.run.event_stream import EventEmitter
from engine.run.stages.reference_stage import own_rule_note
from engine.run.stages.verification import RunningCase, Verifier
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

_FATAL = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY})
_ENDING = (Outcome.TAMPERED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR)
_MAX_DEATHS = 2


class VerifyingStage:
    """Verifies the cases of one candidate; `run` once.  `results` are in the order in which cases ended."""

    def __init__(
        self,
        *,
        cases: Sequence[Case],
        verifier: Verifier,
        session: CandidateSession,
        emitter: EventEmitter,
        results: list[CaseResult],
        readiness: Readiness | None = None,
        suite: SuiteOrigin | None = None,
    ) -> None:
        self._cases = tuple(cases)
        self._verifier = verifier
        self._session = session
        self._emitter = emitter
        self._readiness = readiness
        self._results = results
        self._suite = suite
        self._deaths = 0
        self._waiting = list(cases)
        self._repeated: set[str] = set()

    async def run(self) -> Stop | None:
        """Verify until the last case or a reason to stop; returns that reason, None after the last case."""
        ending: asyncio.Task[Stop | None] | None = None
        stop: Stop | None = None
        waiting = self._waiting
        try:
            while stop is None and (waiting or ending is not None):
                if not waiting and ending is not None:
                    stop, ending = await ending, None  # it may have to be run again
                    continue
                case = await self._readiness.next_of(waiting) if self._readiness is not None else waiting[0]
                waiting.remove(case)
                running = await self._verifier.begin(case, following=self._expected_next())
                if ending is not None and (stop := await ending) is not None:
                    return stop  # the case begun meanwhile is dropped
                ending = asyncio.create_task(self._end(running))
                if running.taken is None:  # its result is known, and the choice of the next case may depend on it
                    stop, ending = await ending, None
        finally:
            if ending is not None:
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
            await self._verifier.close()
        if self._suite is not None and self._verifier.own_rule.calls:
            rule = self._verifier.own_rule
            self._emitter.note("suite rule", own_rule_note(self._suite, rule))
            self._emitter.emit(events.SuiteRuleApplied(at_s=self._emitter.now(), calls=rule.calls, passed=rule.passed))
        if stop is None and self._session.fault is not None:
            return outcome_mapping.of_worker_error(self._session.fault, "after the last case")
        return stop

    async def _end(self, running: RunningCase) -> Stop | None:
        """Report the result of a case; returns the reason why no other case runs, if there is one."""
        result = await self._verifier.end(running)
        if self._is_to_be_repeated(running, result):
            self._repeated.add(result.case)
            self._waiting.insert(0, running.case)
            return None
        self._results.append(result)
        number, total = len(self._results), len(self._cases)
        self._emitter.emit(events.CaseFinished(at_s=self._emitter.now(), number=number, total=total, result=result))
        self._emit_tier_end(result.tier)
        self._deaths += result.outcome in _FATAL
        if result.outcome in _ENDING:
            return Stop(outcome=result.outcome, message=result.message)
        if self._deaths == _MAX_DEATHS and number < total and result.outcome in _FATAL:
            rest = "1 other case was" if total - number == 1 else f"{total - number} other cases were"
            message = f"{result.message}; after {_MAX_DEATHS} such cases, {rest} not run"
            return Stop(outcome=result.outcome, message=message, location=result.location)
        return None

    def _expected_next(self) -> Case | None:
        """The case that probably follows, to be prepared in advance; None where that may be no gain."""
        if self._readiness is None:
            return next(iter(self._waiting), None)
        return self._readiness.expected_next(self._waiting)

    def _emit_tier_end(self, tier: Tier) -> None:
        """Report the end of a tier after its last case."""
        outcomes = [result.outcome for result in self._results if result.tier is tier]
        if len(outcomes) == sum(case.tier is tier for case in self._cases):
            passed = outcomes.count(Outcome.PASS)
            self._emitter.emit(
                events.TierFinished(at_s=self._emitter.now(), tier=tier, passed=passed, total=len(outcomes))
            )

    def _is_to_be_repeated(self, running: RunningCase, result: CaseResult) -> bool:
        """Whether this first result is not evidence about the candidate.

        An engine process failed or was killed, or a call timed out that had to compile its kernels.
        """
        if result.case in self._repeated:
            return False
        if result.outcome is Outcome.TIMEOUT and self._readiness is not None and self._readiness.start_late():
            self._verifier.forget_timeout()
            return True
        return result.outcome is Outcome.ENGINE_ERROR or running.killed
