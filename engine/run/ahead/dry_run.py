"""Determines which kernels every case launches, and has them compiled, before the first call needs one.

A second worker calls the entry with launches suppressed, case after case; each recorded kernel goes to the compilers at
once.  A case is ready when all its kernels are, in any order.  If a dry run fails, or all of it takes too long, the
case is ready at once and its kernels are compiled when they are launched, so that a dry run cannot block a run for
good.

A verified call launches the first configuration of an autotuner that runs, so that is compiled first; all the others
are compiled after that, and only for cases that are timed.  The launches of a case also determine how long its call may
take: if all is compiled an endless loop is reported in seconds, and an autotuner with many configurations gets the time
to try them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence

from engine import protocol
from engine.errors import DeadlineError, EngineError
from engine.model import Case, Launch, Plan
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.processes.judge_requests import reason_in
from engine.profile import Profile

_CASE_S = 20.0
_CALL_S, _LAUNCH_S = 10.0, 1.0  # for a call without compilation, and for each launch of an autotuner
_UNRETURNED_S = 60.0  # limit of a case whose dry run did not return although it compiled and launched nothing
_LIMIT_S = 120.0  # total limit for the dry runs of all cases and for their kernels
_FIRST_CASES = 2  # described first, so that compiling begins while the inputs of the others are made


class DryRun:
    """The dry run of one candidate; `run` once, beside the verification of the cases.

    `add` has a launch compiled, by Triton's own description, and returns what must be done before it is launched.
    `on_launch` gets every launch of a verified call, but not those of further configurations of tuners.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        session: CandidateSession,
        profile: Profile,
        add: Callable[[Launch, str], list[asyncio.Future[None]]],
        ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
        on_launch: Callable[[Launch], None] = lambda _: None,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._problem = plan.problem
        self._cases = plan.cases
        self._keeps = not plan.has_own_draws
        self._timed = plan.timed_only
        self._session = session
        self._most_s = session.limits.case_s
        self._add = add
        self._on_launch = on_launch
        self._profile = profile
        self._ask_judge = ask_judge
        loop = asyncio.get_running_loop()
        self._until_s = loop.time() + limit_s
        self._ready: dict[str, asyncio.Future[None]] = {
            case.name: loop.create_future() for case in (*plan.cases, *plan.timed_only)
        }
        self._waiting: set[asyncio.Task[None]] = set()
        self._launches: dict[str, tuple[Launch, ...]] = {}
        self._bytes: dict[str, int] = {}
        self._incomplete: set[str] = set()
        self._is_unreturned = False

    async def next_of(self, cases: Sequence[Case]) -> Case:
        """The first of these cases that is ready; after the time limit the first of all."""
        while True:
            for case in cases:
                if self.is_ready(case):
                    return case
            left_s = self._until_s - asyncio.get_running_loop().time()
            if left_s <= 0:
                return cases[0]
            with self._profile.span("wait for kernels"):
                ready = [self._ready[case.name] for case in cases]
                await asyncio.wait(ready, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)

    def is_ready(self, case: Case) -> bool:
        """Whether all kernels of this case are compiled, or it is called without."""
        return self._ready[case.name].done()

    def bytes_of(self, case: Case) -> float:
        """The size of the arguments of a case; infinite if it has not been run dry."""
        return self._bytes.get(case.name, math.inf)

    async def run(self) -> None:
        """Run every case dry; afterwards the worker is closed, and every case is or becomes ready."""
        try:
            async with asyncio.timeout_at(self._until_s):
                with self._profile.span("load for dry run"):
                    await self._session.load()
                first, rest = self._cases[:_FIRST_CASES], self._cases[_FIRST_CASES:]
                for case, shape in zip(first, await self._describe(first), strict=True):
                    await self._run_dry(case, shape)
                for case, shape in _largest_first(list(zip(rest, await self._describe(rest), strict=True))):
                    await self._run_dry(case, shape)
                for case in self._timed:  # one by one, since their inputs are large and occupy the judge
                    (shape,) = await self._describe((case,))
                    await self._run_dry(case, shape, tunes=True)
        except (LoadError, EngineError, OSError, TimeoutError):
            pass  # the verifying worker gets and reports the same error
        finally:
            for ready in self._ready.values():
                if not ready.done() and not self._waiting_for(ready):
                    ready.set_result(None)
            await self._session.clear()

    def launches(self, case: str) -> tuple[Launch, ...]:
        """Launches of this case, as far as the dry run reached."""
        return self._launches.get(case, ())

    def call_s(self, case: Case) -> float:
        """Time limit of a call of this case in seconds: the full limit if something may have to be compiled."""
        launches = self._launches.get(case.name)
        if launches is None or case.name in self._incomplete or not self._ready[case.name].done():
            return min(self._most_s, _UNRETURNED_S) if self._is_unreturned else self._most_s
        return min(self._most_s, _CALL_S + _LAUNCH_S * len(launches))

    async def close(self) -> None:
        """Drop pending work.  Safe to call twice."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)
        await self._session.clear()

    async def _describe(self, cases: Sequence[Case]) -> Sequence[protocol.Shape]:
        if not cases:
            return ()
        names = tuple(case.name for case in cases)
        with self._profile.span("describe cases"):
            reply = await self._ask_judge(
                protocol.Describe(id=protocol.new_id(), problem=self._problem.id, cases=names, keeps=self._keeps)
            )
        if not isinstance(reply, protocol.Described):
            raise EngineError(f"the judge could not describe the cases{reason_in(reply)}")
        return reply.shapes

    async def _run_dry(self, case: Case, shape: protocol.Shape, *, tunes: bool = False) -> None:
        command = protocol.RunDry(
            id=protocol.new_id(), case=case.name, arguments=shape.arguments, storages=shape.storages, tunes=tunes
        )
        with self._profile.span("dry run"):
            try:
                reply = await self._session.ask(command, deadline_s=_CASE_S)
            except DeadlineError:
                self._is_unreturned = True
                raise
        launches = reply.launches if isinstance(reply, protocol.DryRunDone) else ()
        if not isinstance(reply, protocol.DryRunDone) or reply.is_incomplete:
            self._incomplete.add(case.name)
        self._launches[case.name] = tuple(met.launch for met in launches)
        self._bytes[case.name] = sum(shape.storages)
        needed = [done for met in launches for done in self._add(met.launch, met.specialisation)]
        for met in launches if not tunes else ():
            self._on_launch(met.launch)
        task = asyncio.create_task(_when_done(needed, self._ready[case.name]), name=case.name)
        self._waiting.add(task)

    def _waiting_for(self, ready: asyncio.Future[None]) -> bool:
        return any(self._ready[task.get_name()] is ready for task in self._waiting)


def _largest_first(cases: list[tuple[Case, protocol.Shape]]) -> list[tuple[Case, protocol.Shape]]:
    """The case with most bytes, whose kernels are likely to take longest, and the others in their order."""
    largest = max(cases, key=lambda described: sum(described[1].storages), default=None)
    return [largest, *(one for one in cases if one is not largest)] if largest is not None else []


async def _when_done(needed: Sequence[asyncio.Future[None]], ready: asyncio.Future[None]) -> None:
    if needed:
        await asyncio.wait(needed)
    if not ready.done():
        ready.set_result(None)
