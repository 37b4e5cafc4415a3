"""Calls for probes: the cases that passed, and one case laid out in memory for calls under other conditions.

Probes use a `Lab`; the judge decides which of the outputs are right.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine import protocol
from engine.devices import Device
from engine.draws import Draws
from engine.errors import DeadlineError, EngineError
from engine.model import Case, CaseResult, Finding, Launch, Limits, Plan, Problem
from engine.model.proof import CaseProof
from engine.processes.candidate_session import CandidateSession
from engine.processes.judge_requests import prepared_case, reason_in
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.verdict.native_symbols import NativeKernels

_CALL_S = 3.0  # a call without its kernels is faster than with them, unless it waits for one
_SLOWER = 2.0  # times the verified duration: a probed call is observed, and other calls run beside it


@dataclass(frozen=True, kw_only=True)
class PassedCase:
    """A case that the candidate was right on.

    `launches` are those specialisations that no case before it had launched: the first case of a kernel, not everything
    that the case launches.  `tapes` are files with tapes of verified calls, each on another content; the last one was
    made on that of the result's seed, and `digest` is the SHA-256 of its outputs.
    """

    case: Case
    result: CaseResult
    launches: tuple[Launch, ...]
    tapes: tuple[Path, ...] = ()
    digest: str | None = None

    @property
    def elements(self) -> int:
        """Number of elements of its outputs."""
        return sum(output.total for output in self.result.outputs)


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """What is known of one more call: its outputs, or its trouble.

    `ledger` is the worker's claim of its launched and withheld kernels.  `trouble` is why there are no outputs, `lost`
    that the worker exited, `silent` that it timed out; `outputs` is the judge's count of right elements.
    """

    ledger: tuple[protocol.Withheld, ...] = ()
    outputs: tuple[protocol.CorrectCount, ...] = ()
    trouble: str = ""
    lost: bool = False
    silent: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordedCall:
    """A call with the device's record: the worker's claim and the judge's count, or the trouble."""

    recorded: protocol.Recorded | None = None
    outputs: tuple[protocol.CorrectCount, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """Interface of a probe to a candidate that passed.

    A lab beside another one for the same candidate has a worker of its own, and another `place` in the judge.  `native`
    are the kernels of its CUDA source, None for a file without native code.  `draws` gives random numbers to the
    probes.  `proven` are the names of cases with a proof: the kernels alone compute their answer.  `reported` are the
    findings of the run before the probes.  `prove` gives the proof of a further case by the tape of one call, a file,
    where calls are replayed.  `torch_lines` collects the lines of the file at which torch computed in verified calls.
    """

    plan: Plan
    device: Device
    passed: Sequence[PassedCase]
    session: CandidateSession
    process_pool: ProcessPool
    limits: Limits
    profile: Profile = field(repr=False)
    native: NativeKernels | None = None
    place: int = 0
    draws: Draws = field(default_factory=Draws, repr=False)
    proven: frozenset[str] = frozenset()
    reported: tuple[Finding, ...] = ()
    prove: Callable[[PassedCase, Path], Awaitable[CaseProof]] | None = field(default=None, repr=False)
    torch_lines: set[int] = field(default_factory=set, repr=False)

    @property
    def problem(self) -> Problem:
        """The candidate's problem."""
        return self.plan.problem

    @property
    def is_proven(self) -> bool:
        """Whether there is a proof of every case that has an answer, and one has."""
        answered = [one for one in self.passed if one.elements]
        return bool(answered) and all(one.case.name in self.proven for one in answered)

    def size_of(self, case: Case) -> int:
        """The least work of a case, in operations and bytes, for ordering cases."""
        cost = self.problem.cost(case)
        return cost.flops + cost.bytes_read + cost.bytes_written

    async def ask(self, command: protocol.AnyCommand, *, verified_s: float = 0.0) -> protocol.AnyReply:
        """Have the worker that verified, or its replacement, carry out a command.

        A lost worker is not replaced here: the command may name files in its folder.  `verified_s` is the duration of
        its case in verification, from which the time limit follows.

        Raises:
            EngineError: it could not be loaded, or did not reply properly; it is closed then.
        """
        try:
            if not self.session.occupied and not self.session.lost:
                await self.session.load()
            # A first call imports, tunes and compiles, which counted as verification time before.
            patience_s = self.limits.case_s if self.session.untried else max(_CALL_S, _SLOWER * verified_s)
            deadline_s = min(self.limits.case_s, patience_s)
            return await self.session.ask(command, deadline_s=deadline_s)
        except EngineError:
            await self.session.clear()
            raise

    async def renew(self) -> None:
        """Use a worker that has never called the candidate for the next call."""
        await self.session.clear()

    @contextlib.asynccontextmanager
    async def at(self, case: Case, *, poison: int = 0, seed: int | None = None) -> AsyncIterator[CaseSession]:
        """The inputs of a case, those of `seed` if given, laid out for calls; one case at a time.

        Raises:
            EngineError: the judge could not make them, or no worker could be started.
        """
        if not self.session.occupied:
            await self.session.load()
        arena = self.session.shared / f"{secrets.token_hex(8)}.in"
        prepare = protocol.Prepare(
            id=protocol.new_id(),
            problem=self.problem.id,
            case=case.name,
            poison=poison,
            seed=seed,
            arena_path=None if self.process_pool.shares_device else str(arena),
            place=self.place,
            draw_seed=self.draws.seed_of(case.name),
            expects=False,
        )
        try:
            async with prepared_case(self.process_pool, prepare) as prepared:
                yield CaseSession(lab=self, case=case, prepared=prepared, outputs=arena.with_suffix(".out"))
        finally:
            for path in (arena, arena.with_suffix(".out")):
                with contextlib.suppress(OSError):
                    path.unlink()


@dataclass(frozen=True, kw_only=True)
class CallContent:
    """Inputs of a call: new content (that of `seed`, if given), else that of the prepared case."""

    fresh: bool = True
    seed: int | None = None


NEW_CONTENT = CallContent()


@dataclass(frozen=True, kw_only=True)
class CaseSession:
    """One case laid out in memory; by default each call gets new random content in the same memory."""

    lab: Lab
    case: Case
    prepared: protocol.Prepared
    outputs: Path

    async def call(
        self, *, poison: int, withhold: protocol.Withhold | None = None, observe: bool = False
    ) -> CallResult:
        """Call the entry once more; a failure of the candidate is `trouble`, not an exception.

        Raises:
            EngineError: the judge failed.
        """
        called = await self.make(poison=poison, withhold=withhold, observe=observe)
        if isinstance(called, CallResult):
            return called
        counted = await self._correct_counts(called.returned)
        if isinstance(counted, str):
            return CallResult(ledger=called.ledger, trouble=counted)
        return CallResult(ledger=called.ledger, outputs=counted)

    async def record(self) -> RecordedCall:
        """Call the entry on new content with the device's activity record.

        Raises:
            EngineError: the judge failed.
        """
        await self._refill(NEW_CONTENT, poison=0)
        command = protocol.Record(
            id=protocol.new_id(),
            arguments=self.prepared.arguments,
            arena=self.prepared.arena,
            outputs=str(self.outputs),
            max_output_bytes=self.lab.limits.output_bytes,
        )
        try:
            with self.lab.profile.span("probe"):
                recorded = await self.lab.ask(command, verified_s=self._verified_s)
        except EngineError as error:
            return RecordedCall(trouble=str(error))
        if isinstance(recorded, protocol.Failed):
            return RecordedCall(trouble=recorded.message)
        if not isinstance(recorded, protocol.Recorded):
            return RecordedCall(trouble=f"a recorded call was answered with {type(recorded).__name__}")
        counted = await self._correct_counts(recorded.returned)
        if isinstance(counted, str):
            return RecordedCall(trouble=counted)
        return RecordedCall(recorded=recorded, outputs=counted)

    async def make(
        self,
        *,
        poison: int,
        content: CallContent | None = NEW_CONTENT,
        withhold: protocol.Withhold | None = None,
        program_order: protocol.ProgramOrder | None = None,
        watch: protocol.Watch | None = None,
        observe: bool = False,
        tape: Path | None = None,
    ) -> protocol.Called | CallResult:
        """Make a call whose outputs are compared later, or return its trouble.

        Without `content` the memory is left unchanged.  The tape of the call goes to the file `tape`.

        Raises:
            EngineError: the judge failed.
        """
        lab = self.lab
        if content is not None:
            await self._refill(content, poison=poison)
        command = protocol.Call(
            id=protocol.new_id(),
            case=self.case.name,
            arguments=self.prepared.arguments,
            arena=self.prepared.arena,
            outputs=str(self.outputs),
            max_output_bytes=lab.limits.output_bytes,
            poison=poison,
            withhold=withhold,
            program_order=program_order,
            watch=watch,
            observe=observe,
            tape=str(tape) if tape is not None else "",
        )
        try:
            with lab.profile.span("probe"):
                called = await lab.ask(command, verified_s=self._verified_s)
        except EngineError as error:
            return CallResult(trouble=str(error), lost=True, silent=isinstance(error, DeadlineError))
        if isinstance(called, protocol.Failed):
            if called.broken:
                await lab.renew()
            return CallResult(ledger=called.ledger, trouble=called.message, lost=called.broken)
        if not isinstance(called, protocol.Called):
            return CallResult(trouble=f"a call was answered with {type(called).__name__}")
        return called

    async def compare(self, returned: protocol.Returned) -> protocol.Compared | str:
        """The judge's comparison of the outputs of the last call, with their digest; or why they are no answer.

        Raises:
            EngineError: the judge failed.
        """
        compare = protocol.Compare(
            id=protocol.new_id(),
            outputs=str(self.outputs),
            max_output_bytes=self.lab.limits.output_bytes,
            returned=returned,
            explain=False,
            hash_outputs=True,
            place=self.lab.place,
        )
        compared = await self.lab.process_pool.ask_judge(compare)
        if isinstance(compared, protocol.Failed) and compared.kind is protocol.FailureKind.TAMPERED:
            return compared.message
        if not isinstance(compared, protocol.Compared):
            raise EngineError(f"the judge could not compare the outputs of {self.case.name}{reason_in(compared)}")
        return compared

    @property
    def _verified_s(self) -> float:
        """Duration of the case in verification; 0 if it was not verified."""
        return max((one.result.elapsed_s for one in self.lab.passed if one.case == self.case), default=0.0)

    async def _refill(self, content: CallContent, *, poison: int) -> None:
        refill = protocol.Refill(
            id=protocol.new_id(), fresh=content.fresh, poison=poison, seed=content.seed, place=self.lab.place
        )
        refilled = await self.lab.process_pool.ask_judge(refill)
        if not isinstance(refilled, protocol.Done):
            raise EngineError(f"the judge could not make inputs of {self.case.name} again{reason_in(refilled)}")

    async def _correct_counts(self, returned: protocol.Returned) -> tuple[protocol.CorrectCount, ...] | str:
        """The judge's count of right elements in the returned outputs, or the reason why they are not an answer."""
        count_correct = protocol.CountCorrect(
            id=protocol.new_id(),
            outputs=str(self.outputs),
            max_output_bytes=self.lab.limits.output_bytes,
            returned=returned,
            place=self.lab.place,
        )
        counted = await self.lab.process_pool.ask_judge(count_correct)
        if isinstance(counted, protocol.Failed) and counted.kind is protocol.FailureKind.TAMPERED:
            return counted.message
        if not isinstance(counted, protocol.CorrectCounted):
            raise EngineError(f"the judge could not count the correct outputs of {self.case.name}{reason_in(counted)}")
        return counted.outputs


def passed_of(
    cases: Sequence[Case],
    results: Iterable[CaseResult],
    *,
    launches: Mapping[str, tuple[Launch, ...]],
    tapes: Mapping[str, tuple[Path, ...]],
    digests: Mapping[str, str],
) -> tuple[PassedCase, ...]:
    """The cases of these results, in their order; what their calls left is by the name of the case."""
    case_by_name = {case.name: case for case in cases}
    return tuple(
        PassedCase(
            case=case_by_name[result.case],
            result=result,
            launches=launches.get(result.case, ()),
            tapes=tapes.get(result.case, ()),
            digest=digests.get(result.case),
        )
        for result in results
    )
