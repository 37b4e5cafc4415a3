"""Verification of cases: the judge prepares, the worker computes, the judge compares.

As soon as one case was right the next is expected to be: then the judge copies the results of a call, and compares its
copies during the next call, also that of the next case.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError, EngineError, KilledError
from engine.model import (
    Case,
    CaseResult,
    Finding,
    Launch,
    Outcome,
    OutputReport,
    Plan,
    Severity,
)
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.protocol.executing import Executed
from engine.run.event_stream import EventEmitter
from engine.run.native.building import NativeCode
from engine.run.native.calls import with_extensions
from engine.run.stages.planned_calls import FIRST_POISON, PlannedCall, calls_of
from engine.run.stages.preparation import Preparer
from engine.run.stages.reference_stage import OwnRuleCount
from engine.verdict import executed_launches, outcome_mapping
from engine.verdict.decide import Stop

_CONFIRMING_S = 10.0
_MOST_EXPLAINED = 3
_WHY_LATER = (
    "",
    "first call correct, second call on the same input wrong: state kept between calls, or a race",
    "correct on the first input, wrong on new input in the same memory: a cached output, "
    "or an error that depends on the values",
)


@dataclass(kw_only=True)
class RunningCase:
    """State of a case while its calls are made.

    `overlaps` is whether outputs are compared during the next call, `following` the case that is prepared during the
    first call, `place` that of this case in the judge, `comparing` the comparison in progress, `taken` the snapshot
    still to be compared when all calls are made, `fault` the reason for a failure although its values are right, and
    `killed` whether a signal from outside ended the worker.
    """

    case: Case
    started_s: float
    overlaps: bool
    following: Case | None = None
    place: int = 0
    stop: Stop | None = None
    fault: Stop | None = None
    failed: protocol.Failed | None = None
    comparing: asyncio.Task[Stop | None] | None = None
    taken: str | None = None
    seed: int | None = None
    calls: int = 0
    reports: tuple[OutputReport, ...] = ()
    compared: int = 0
    repeated: bool = True
    killed: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether an output that was compared is not right."""
        return any(report.outcome is not Outcome.PASS for report in self.reports)


class Verifier:
    """Verifies the cases of one run, one after another; a case may begin before the one before it has ended.

    `on_launch` gets every launch with its case; `call_s` is how long a call of a case may take, in seconds.
    """

    def __init__(
        self,
        *,
        plan: Plan,
        process_pool: ProcessPool,
        session: CandidateSession,
        profile: Profile,
        emitter: EventEmitter,
        native: NativeCode,
        on_launch: Callable[[Launch, str], None],
        call_s: Callable[[Case], float] | None = None,
    ) -> None:
        self._plan = plan
        self._process_pool = process_pool
        self._session = session
        self._profile = profile
        self._emitter = emitter
        self._on_launch = on_launch
        self._call_s = call_s or (lambda _: session.limits.case_s)
        self._native = native
        self._has_timed_out = False
        self._preparer = Preparer(
            plan, process_pool=process_pool, session=session, emitter=emitter, ask_judge=self._ask_judge,
            poison=FIRST_POISON,
        )  # fmt: skip
        self._executed: set[tuple[object, ...]] = set()
        self._expects_right = False
        self._wrong = 0
        self.own_rule = OwnRuleCount()
        self.launches: dict[str, tuple[Launch, ...]] = {}
        """By case, the specialisations that no case before it had launched."""
        self.tapes: dict[str, tuple[Path, ...]] = {}
        """By case, the files with tapes of its last calls, in the folder of the worker that made them."""
        self.digests: dict[str, str] = {}
        """By case, the SHA-256 of the outputs of its last call, if that was taped."""

    async def begin(self, case: Case, *, following: Case | None = None) -> RunningCase:
        """Make the calls of a case; every kind of failure is a result of `end`, not an exception.

        If it is expected to be right, the inputs of the case that is probably `following` may be made meanwhile.
        """
        started_s, overlaps = self._emitter.clock(), self._expects_right
        running = RunningCase(case=case, started_s=started_s, overlaps=overlaps, following=following)
        try:
            try:
                if not self._session.occupied:
                    await self._session.load()
                build, restart = self._native.build, self._restart
                running.stop = await with_extensions(running, self._calls, build=build, restart=restart)
            except LoadError as error:
                running.stop = outcome_mapping.of_failure(error.failed)
            except EngineError as error:
                running.stop = outcome_mapping.of_worker_error(error, "while computing")
                self._has_timed_out = isinstance(error, DeadlineError)
                running.killed = isinstance(error, KilledError)
                await self._session.clear()
            await self._compared(running)
        finally:
            if running.comparing is not None:  # this task is being cancelled
                running.comparing.cancel()
                await asyncio.gather(running.comparing, return_exceptions=True)
        failed = running.failed
        if failed is not None and failed.broken:
            await self._session.clear()  # its context is lost; the next case gets a new one
        if failed is not None and failed.trace:
            self._emitter.trace(failed.trace)
        if running.taken is None:
            released = await self._ask_judge(protocol.Release(id=protocol.new_id(), place=running.place), "release")
            running.seed = released.seed if isinstance(released, protocol.Released) else None
        return running

    async def close(self) -> None:
        """Drop what was prepared in advance.  Safe to call twice."""
        await self._preparer.close()

    def forget_timeout(self) -> None:
        """Give the next call its full time, although a call has timed out."""
        self._has_timed_out = False

    async def _restart(self, running: RunningCase) -> None:
        """Forget the calls of a case and load the candidate in another worker, which has other memory, too."""
        await self._ask_judge(protocol.Release(id=protocol.new_id(), place=running.place), "release")
        running.failed, running.reports, running.calls, running.compared = None, (), 0, 0
        await self._session.clear()
        await self._session.load()

    async def end(self, running: RunningCase) -> CaseResult:
        """The result of a case that was begun; must be awaited before that of the next."""
        if running.taken is not None:
            compare_snapshot = protocol.CompareSnapshot(
                id=protocol.new_id(), taken=running.taken, ends=True, place=running.place
            )
            running.stop = await self._compare(running, compare_snapshot)
        should_repeat = self._plan.problem.determinism.has_one_answer
        if should_repeat and not running.repeated and not running.is_wrong and running.stop is None:
            message = "two calls on the same input differ in bits, both within tolerance"
            finding = Finding(check="repeat", severity=Severity.NOTE, message=message, case=running.case.name)
            self._emitter.find(finding)
        result = self._result(running)
        self._expects_right = result.outcome is Outcome.PASS
        self._wrong += result.outcome is not Outcome.PASS
        return result

    @property
    def _explains(self) -> bool:
        """Whether a wrong output is diagnosed: only the first ones of a run, as a save waits for the result."""
        return self._wrong < _MOST_EXPLAINED

    async def _calls(self, running: RunningCase) -> Stop | None:
        """Make the calls of the case until one is wrong; returns the reason for a stop, if any."""
        case = running.case
        made = await self._preparer.prepare(case)
        running.place, prepared = made.place, made.reply
        arena, outputs = made.arena, made.arena.with_suffix(".out")
        self.tapes[case.name] = ()
        self.digests.pop(case.name, None)
        if not isinstance(prepared, protocol.Prepared):
            return outcome_mapping.of_trusted(prepared, "while inputs were made")
        calls = calls_of(case, on_cpu=self._process_pool.interpreted)
        observed = secrets.choice(calls)  # one observed call is enough, and the candidate must not know which
        try:
            for call, following in zip(calls, (*calls[1:], None), strict=True):
                is_taped = call.is_taped and not self._native.is_there
                tape = arena.with_suffix(f".{running.calls}.tape")
                command = protocol.Call(
                    id=protocol.new_id(),
                    case=case.name,
                    arguments=prepared.arguments,
                    arena=prepared.arena,
                    outputs=str(outputs),
                    max_output_bytes=self._session.limits.output_bytes,
                    poison=call.poison,
                    observe=call is observed,
                    tape=str(tape) if is_taped else "",
                )
                stop = await self._call(running, command, following)
                if stop is not None or running.is_wrong:
                    return stop
                if is_taped:
                    self.tapes[case.name] += (tape,)
        except ChildDiedError:  # reading beyond the end of a truncated file kills the reader, also the worker
            if prepared.arena.handle or not _is_shorter(arena, prepared.arena.bytes):
                raise
            await self._session.clear()
            return Stop(outcome=Outcome.TAMPERED, message="the shared memory of the case was cut short")
        finally:
            if not prepared.arena.handle:
                _unlink(arena, outputs)
        return None

    async def _call(self, running: RunningCase, command: protocol.Call, following: PlannedCall | None) -> Stop | None:
        """Make one call and have its results compared, at once or during the next call."""
        if running.following is not None and running.overlaps:
            self._preparer.prepare_in_advance(running.following, beside=running.place)
            running.following = None
        with self._profile.span("call"):
            called = await self._session.ask(command, deadline_s=self._limit_s(running.case))
        if isinstance(called, protocol.Failed | protocol.Called):
            name = running.case.name
            self.launches[name] = (*self.launches.get(name, ()), *called.launches)
            for launch in called.launches:
                self._on_launch(launch, name)
            self._find_executed(running, called.executed)
        if (stop := await self._compared(running)) is not None or running.is_wrong:
            return stop
        running.calls += 1
        if isinstance(called, protocol.Failed):
            running.failed = called
            return outcome_mapping.of_failure(called)
        if not isinstance(called, protocol.Called):
            return Stop(outcome=Outcome.TAMPERED, message=f"a call was answered with {type(called).__name__}")
        if running.overlaps:
            return await self._take(running, command, called, following)
        compare = protocol.Compare(
            id=protocol.new_id(),
            outputs=command.outputs,
            max_output_bytes=command.max_output_bytes,
            returned=called.returned,
            explain=self._explains,
            hash_outputs=_is_hashed(command, following),
            place=running.place,
        )
        stop = await self._compare(running, compare)
        if stop is not None or running.is_wrong or following is None:
            return stop
        refill = protocol.Refill(
            id=protocol.new_id(), fresh=following.fresh, poison=following.poison, place=running.place
        )
        refilled = await self._ask_judge(refill, "make inputs again")
        if not isinstance(refilled, protocol.Done):
            return outcome_mapping.of_trusted(refilled, "while inputs were being redrawn")
        return None

    def _find_executed(self, running: RunningCase, executed: Executed | None) -> None:
        """Report findings of a call's launches: once in a run for each check, kernel and line."""
        if executed is None:
            return
        running.fault = running.fault or executed_launches.stop_of(executed)
        for finding in executed_launches.findings_of(executed, running.case.name):
            key = (finding.check, finding.location, finding.message.partition(":")[0])
            if key not in self._executed:
                self._executed.add(key)
                self._emitter.find(finding)

    def _limit_s(self, case: Case) -> float:
        """Time limit of a call; shorter for a candidate that has never returned and is called to confirm that."""
        return min(self._call_s(case), _CONFIRMING_S) if self._has_timed_out else self._call_s(case)

    async def _take(
        self, running: RunningCase, command: protocol.Call, called: protocol.Called, following: PlannedCall | None
    ) -> Stop | None:
        """Have the results of a call copied, for comparison during the next call."""
        take = protocol.TakeSnapshot(
            id=protocol.new_id(),
            outputs=command.outputs,
            max_output_bytes=command.max_output_bytes,
            returned=called.returned,
            next_content=protocol.NextContent(fresh=following.fresh, poison=following.poison)
            if following is not None
            else None,
            explain=self._explains,
            hash_outputs=_is_hashed(command, following),
            place=running.place,
        )
        taken = await self._ask_judge(take, "take outputs")
        if not isinstance(taken, protocol.Done):
            return outcome_mapping.of_trusted(taken, "while outputs were copied")
        if following is None:
            running.taken = take.id
        else:
            compare_snapshot = protocol.CompareSnapshot(
                id=protocol.new_id(), taken=take.id, ends=False, place=running.place
            )
            running.comparing = asyncio.create_task(self._compare(running, compare_snapshot))
        return None

    async def _compared(self, running: RunningCase) -> Stop | None:
        """Wait for the comparison in progress; its result takes precedence over an error that occurred meanwhile."""
        if running.comparing is None:
            return None
        stop, running.comparing = await running.comparing, None
        if stop is not None or running.is_wrong:
            running.stop, running.failed = stop, None
        return stop

    async def _compare(self, running: RunningCase, command: protocol.Compare | protocol.CompareSnapshot) -> Stop | None:
        compared = await self._ask_judge(command, "compare")
        if not isinstance(compared, protocol.Compared):
            return outcome_mapping.of_trusted(compared, "while outputs were compared")
        running.seed = compared.seed
        running.reports = compared.reports
        running.compared += 1
        if compared.outputs_digest is not None:
            self.digests[running.case.name] = compared.outputs_digest
        self.own_rule.count(compared.passes_own_rule)
        running.repeated = running.repeated and compared.repeated is not False
        if compared.mutated is not None and not running.is_wrong:
            return Stop(outcome=Outcome.MUTATED_INPUT, message=compared.mutated)
        return None

    async def _ask_judge(self, command: protocol.AnyCommand, doing: str) -> protocol.AnyReply | EngineError:
        try:
            with self._profile.span(doing):
                return await self._process_pool.ask_judge(command)
        except EngineError as error:
            return error

    def _result(self, running: RunningCase) -> CaseResult:
        case, stop, failed = running.case, running.stop, running.failed
        wrong = next((report for report in running.reports if report.outcome is not Outcome.PASS), None)
        if stop is None and wrong is None:
            stop = running.fault
        outcome, message = Outcome.PASS, ""
        if stop is not None:
            outcome, message = stop.outcome, stop.message
        elif wrong is not None:
            later = _WHY_LATER[running.compared - 1] if running.compared > 1 else ""
            outcome, message = wrong.outcome, f"{wrong.message} ({later})" if later else wrong.message
        return CaseResult(
            case=case.name,
            tier=case.tier,
            outcome=outcome,
            elapsed_s=self._emitter.clock() - running.started_s,
            calls=running.calls,
            seed=running.seed,
            message=message,
            location=stop.location if stop else None,
            outputs=running.reports,
            out_of_bounds=failed.out_of_bounds if failed else None,
        )


def _is_hashed(call: protocol.Call, following: PlannedCall | None) -> bool:
    """Whether a proof needs the digest of the outputs of this call: the last one of a case, if it is taped."""
    return following is None and call.tape != ""


def _is_shorter(path: Path, size_bytes: int) -> bool:
    try:
        return path.stat().st_size < size_bytes
    except OSError:
        return False


def _unlink(*paths: Path) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # the worker may have put a folder here; its workspace is removed later
            path.unlink()
