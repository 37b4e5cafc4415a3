"""Judging cases: the judge prepares, the worker computes, the judge compares.

Every case is called twice on the same content with different poison, and SMOKE cases a third time
with new content in the same storage, where an answer that was kept from before is wrong.  On a
device, where a call costs microseconds, every case gets that third call.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import outcomes, wire
from engine.desk import Desk, LoadError
from engine.errors import EngineError
from engine.model import Case, CaseResult, Finding, Launch, Limits, Outcome, OutputReport, Plan, Severity, Tier
from engine.profile import Profile
from engine.staff import Staff
from engine.verdict import Stop

# 0xFF makes nan of every float and -1 of every integer; 0x7B makes large finite numbers of both.
_POISONS = (0xFF, 0x7B)


@dataclass(frozen=True, kw_only=True)
class _Call:
    """One call of a case: with which poison, on new content or the content of the call before."""

    poison: int
    fresh: bool = False


_TWICE = (_Call(poison=_POISONS[0]), _Call(poison=_POISONS[1]))
_AND_FRESH = (*_TWICE, _Call(poison=_POISONS[0], fresh=True))
_WHY_LATER = (
    "", "the first call was right, the second on the same input was not: it keeps state, or races",
    "right until new content came in the same memory: it returned an answer from before",
)  # fmt: skip


@dataclass(kw_only=True)
class _Progress:
    """What is known of a case while its calls are made."""

    seed: int | None = None
    calls: int = 0
    reports: tuple[OutputReport, ...] = ()
    compared: int = 0
    repeated: bool = True


class Verifier:
    """Judges the cases of one run, one after another."""

    def __init__(
        self, *, plan: Plan, limits: Limits, staff: Staff, desk: Desk, clock: Callable[[], float], profile: Profile,
        on_launch: Callable[[Launch], None], on_finding: Callable[[Finding], None], on_trace: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._plan = plan
        self._limits = limits
        self._staff = staff
        self._desk = desk
        self._clock = clock
        self._profile = profile
        self._on_launch = on_launch
        self._on_finding = on_finding
        self._on_trace = on_trace
        self._said_unshared = False

    async def judge(self, case: Case) -> CaseResult:
        """Judge one case; every way to fail is a result, not an exception."""
        started = self._clock()
        progress = _Progress()
        stop: Stop | None = None
        failed: wire.Failed | None = None
        try:
            if not self._desk.occupied:
                await self._desk.load()
            stop, failed = await self._calls(case, progress)
        except LoadError as error:
            stop = outcomes.of_failure(error.failed)
        except EngineError as error:
            stop = outcomes.of_worker_error(error, "while computing")
            await self._desk.clear()
        released = await self._ask_judge(wire.Release(id=wire.new_id()), "release")
        if isinstance(released, wire.Released):
            progress.seed = released.seed
        if failed is not None and failed.broken:
            await self._desk.clear()  # its context is lost; the next case gets a new one
        if failed is not None and failed.trace:
            self._on_trace(failed.trace)
        return self._result(case, progress, stop, failed, self._clock() - started)

    async def _calls(self, case: Case, progress: _Progress) -> tuple[Stop | None, wire.Failed | None]:
        """Make the calls of the case until one is wrong; what stopped them, if anything."""
        arena = self._desk.shared / f"{secrets.token_hex(8)}.in"
        outputs = arena.with_suffix(".out")
        prepared = await self._prepare(case, arena)
        if not isinstance(prepared, wire.Prepared):
            return outcomes.of_trusted(prepared, "while inputs were made"), None
        calls = _AND_FRESH if case.tier is Tier.SMOKE or not self._staff.interpreted else _TWICE
        try:
            for number, call in enumerate(calls):
                stop, failed = await self._call(case, progress, number, call, prepared, outputs)
                if stop is not None or any(report.outcome is not Outcome.PASS for report in progress.reports):
                    return stop, failed
        finally:
            if not prepared.arena.handle:
                _unlink(arena, outputs)
        if not progress.repeated:
            message = "two calls on the same input gave different bits, both within tolerance"
            self._on_finding(Finding(check="repeat", severity=Severity.NOTE, message=message, case=case.name))
        return None, None

    async def _prepare(self, case: Case, arena: Path) -> wire.AnyReply | EngineError:
        """The case's inputs in memory that the worker sees: the device's own, and a file where that is not shared."""
        shared = self._staff.shares_device
        prepare = wire.Prepare(
            id=wire.new_id(), origin=self._plan.problem.origin, case=case.name, poison=_POISONS[0],
            arena_path=None if shared else str(arena),
        )  # fmt: skip
        prepared = await self._ask_judge(prepare, "make inputs")
        # Of the judge alone: a candidate that says so of its process would choose how it is verified.
        if shared and isinstance(prepared, wire.Failed) and prepared.kind is wire.FailureKind.UNSUPPORTED:
            self._staff.share_no_more(prepared.message)
            prepared = await self._prepare(case, arena)
        if self._staff.unshared and not self._said_unshared:
            self._said_unshared = True
            message = f"device memory is not shared between processes here ({self._staff.unshared})"
            message += "; tensors travel through the host"
            self._on_finding(Finding(check="memory", severity=Severity.NOTE, message=message))
        return prepared

    async def _call(
        self, case: Case, progress: _Progress, number: int, call: _Call, prepared: wire.Prepared, outputs: Path
    ) -> tuple[Stop | None, wire.Failed | None]:
        if number:
            refill = wire.Refill(id=wire.new_id(), fresh=call.fresh, poison=call.poison)
            refilled = await self._ask_judge(refill, "make inputs again")
            if not isinstance(refilled, wire.Done):
                return outcomes.of_trusted(refilled, "while inputs were made again"), None
        limits = self._limits
        command = wire.Call(
            id=wire.new_id(), case=case.name, arguments=prepared.arguments, arena=prepared.arena,
            outputs=str(outputs), max_output_bytes=limits.output_bytes, poison=call.poison,
        )  # fmt: skip
        with self._profile.span("call"):
            called = await self._desk.ask(command, deadline_s=limits.case_s)
        progress.calls += 1
        if isinstance(called, wire.Failed):
            for launch in called.launches:
                self._on_launch(launch)
            return outcomes.of_failure(called), called
        if not isinstance(called, wire.Called):
            return Stop(outcome=Outcome.TAMPERED, message=f"a call was answered with {type(called).__name__}"), None
        for launch in called.launches:
            self._on_launch(launch)
        compared = await self._ask_judge(
            wire.Compare(
                id=wire.new_id(), outputs=str(outputs), max_output_bytes=limits.output_bytes, returned=called.returned
            ),
            "compare",
        )
        if not isinstance(compared, wire.Compared):
            return outcomes.of_trusted(compared, "while outputs were compared"), None
        progress.reports = compared.reports
        progress.compared += 1
        progress.repeated = progress.repeated and compared.repeated is not False
        wrong = any(report.outcome is not Outcome.PASS for report in compared.reports)
        if compared.mutated is not None and not wrong:
            return Stop(outcome=Outcome.MUTATED_INPUT, message=compared.mutated), None
        return None, None

    async def _ask_judge(self, command: wire.AnyCommand, doing: str) -> wire.AnyReply | EngineError:
        try:
            with self._profile.span(doing):
                return await self._staff.ask_judge(command)
        except EngineError as error:
            return error

    def _result(
        self, case: Case, progress: _Progress, stop: Stop | None, failed: wire.Failed | None, elapsed_s: float
    ) -> CaseResult:
        wrong = next((report for report in progress.reports if report.outcome is not Outcome.PASS), None)
        outcome, message = Outcome.PASS, ""
        if stop is not None:
            outcome, message = stop.outcome, stop.message
        elif wrong is not None:
            later = _WHY_LATER[progress.compared - 1] if progress.compared > 1 else ""
            outcome, message = wrong.outcome, f"{wrong.message} ({later})" if later else wrong.message
        return CaseResult(
            case=case.name, tier=case.tier, outcome=outcome, elapsed_s=elapsed_s, calls=progress.calls,
            seed=progress.seed, message=message, location=stop.location if stop else None, outputs=progress.reports,
            out_of_bounds=failed.out_of_bounds if failed else None,
        )  # fmt: skip


def _unlink(*paths: Path) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # the worker may have put a folder there; its room is removed after it
            path.unlink()
