"""Compiles launches with several compilers while the cases are still being verified.

For the device that the candidate runs on, kernels are compiled before they are launched: a dry run determines them, and
the results are published in a folder where the worker's Triton finds them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from engine.artefacts import ArtefactStore
from engine.errors import EngineError
from engine.model import Artefact, CompiledKernel, Launch, Limits
from engine.model import specialisation as specialisation_of
from engine.processes.candidate_session import CandidateSession
from engine.profile import Profile
from engine.run.compile_turns import END, FIRST, REST, Job, Turn, Turns
from engine.run.launch_compiler import Attempt, Binary, CompiledLaunch, LaunchCompiler
from engine.run.publication import Publication

# Far above the grid of an autotuner; launches beyond it are compiled by the worker, as without a dry run.
_MOST_JOBS = 2048
_MOST_LAUNCHERS = 64
_LIMIT_S = 600.0
_THREADS_A_WARP = 32
_MOST_DIGITS = 10
_LARGE_ELEMENTS = 32  # elements a thread; compiling takes several times as long as with half as many
_MOST_UNDESCRIBED = 2  # a compiler describes its kernels later while launches wait, so that no case waits for that
_COMPILERS_FOR_A_KEPT_ONE = 6  # one of so many waits for launches that take long


class Builder:
    """Compiles the launches of one run, each specialisation once.

    For the device itself they are compiled in order of arrival, for cases wait for them; but those that take long come
    first, and compilers are kept for them while more launches are expected, since the last cases would wait for one of
    them alone.
    For another target, which has no `publication`, the first specialisation of every kernel comes before the rest, so
    that build errors are known early.
    """

    def __init__(
        self,
        *,
        sessions: tuple[CandidateSession, ...],
        target: str,
        limits: Limits,
        artefacts: ArtefactStore,
        profile: Profile,
        on_kernel: Callable[[int, int, CompiledKernel], None],
        publication: Publication | None = None,
        patience_s: float = _LIMIT_S,
    ) -> None:
        self._sessions = sessions
        self._compiler = LaunchCompiler(
            target=target, limits=limits, artefacts=artefacts, profile=profile, publication=publication,
            patience_s=patience_s,
        )  # fmt: skip
        ahead = publication.loads_ahead if publication is not None else None
        self._ahead = len(sessions) if ahead is None else ahead
        self._needed_sessions = tuple(asyncio.Event() for _ in sessions)
        self._begin_sessions(self._ahead)
        self._profile = profile
        self._on_kernel = on_kernel
        self._publication = publication
        self._needed: set[asyncio.Future[None]] = set()
        self._turns = Turns(len(sessions))
        self._arrivals = itertools.count()
        self._met: set[tuple[str, int | None]] = set()
        self._released = asyncio.Event()
        self._released.set()
        self._job_by_specialisation: dict[tuple[object, ...], Job] = {}
        self._binaries: list[tuple[int, Binary]] = []
        self._passed_over = 0
        self._expects = True
        self._over = False
        self.unfinished = 0
        self.left_out = 0
        self.overfull = False
        self.kernels: list[CompiledKernel] = []

    def add(self, launch: Launch, specialisation: str = "") -> list[asyncio.Future[None]]:
        """Compile this launch unless it is compiled already; returns what must be done before it can be launched.

        With Triton's own description, `specialisation`, it is compiled for an expected launch; without one it has been
        launched.  Beyond the limit of one candidate, `overfull` is set.
        """
        key = specialisation_of(launch)
        job = self._job_by_specialisation.get(key)
        if job is None:
            if len(self._job_by_specialisation) == _MOST_JOBS:
                self.overfull = True
                return []
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            job = Job(launch=launch, specialisation=specialisation, done=done, launched=not specialisation)
            self._job_by_specialisation[key] = job
            self._enqueue(job)
        elif not specialisation and not job.launched:
            job.launched = True
            if job.passed_over:
                job.passed_over, job.specialisation = False, ""
                self._passed_over -= 1
                self._enqueue(job)
        return [job.done, *self._launcher(specialisation)]

    @property
    def unkept(self) -> str:
        """Why compiled code is not in the artefacts; "" where all of it is."""
        return self._compiler.unkept

    @property
    def idle(self) -> bool:
        """Whether nothing has been added yet."""
        return not self._job_by_specialisation

    @property
    def held(self) -> bool:
        """Whether compiling waits for `release`."""
        return not self._released.is_set()

    def hold(self) -> None:
        """Compile nothing before `release`."""
        self._released.clear()

    def release(self) -> None:
        """Start compiling after `hold`."""
        self._released.set()

    def finish(self) -> None:
        """Declare that no more launches will be added; `run` returns after the last."""
        self.release()
        self._turns.keep(0)
        self._begin_sessions(len(self._sessions))
        for _ in self._sessions:
            self._turns.put(Turn(rank=END, arrival=next(self._arrivals), job=None))

    def _begin_sessions(self, count: int) -> None:
        for needed in self._needed_sessions[:count]:
            needed.set()

    def _enqueue(self, job: Job) -> None:
        self.unfinished += 1
        self._begin_sessions(self.unfinished)
        if self._over:
            _settle(job)  # no compiler is left: the worker compiles it at its launch
            return
        self._turns.put(Turn(rank=self._rank(job.launch), arrival=next(self._arrivals), job=job))

    def _rank(self, launch: Launch) -> int:
        if self._publication is not None:
            return FIRST if _elements_a_thread(launch) >= _LARGE_ELEMENTS else REST
        kernel = (launch.kernel, launch.line)
        rank = REST if kernel in self._met else FIRST
        self._met.add(kernel)
        return rank

    def _launcher(self, specialisation: str) -> tuple[asyncio.Future[None], ...]:
        """Launchers that must be built beside the kernel before it can be launched."""
        launchers = self._publication.launchers if self._publication is not None else None
        if launchers is None or len(self._needed) == _MOST_LAUNCHERS:
            return ()
        launcher = launchers.need(specialisation, self._profile)
        if launcher is None:
            return ()
        self._needed.add(launcher)
        return (launcher,)

    @contextlib.contextmanager
    def expecting_launches(self) -> Iterator[None]:
        """Context in which launches are expected: some of many compilers are kept for those that take long."""
        self._turns.keep(len(self._sessions) // _COMPILERS_FOR_A_KEPT_ONE if self._publication is not None else 0)
        try:
            yield
        finally:
            self._turns.keep(0)

    def expect_no_more(self) -> None:
        """Drop expected launches whose compilation has not begun; observed launches are still compiled."""
        self._expects = False

    def leave_out_rest(self, wanted: Iterable[Launch]) -> None:
        """Compile only the first specialisation of each kernel and these launches; `left_out` counts the others."""
        needed = {specialisation_of(launch) for launch in wanted}
        for job in self._turns.take_out(lambda job: specialisation_of(job.launch) not in needed):
            _settle(job)
            self.unfinished -= 1
            self.left_out += 1

    async def is_done_within(self, budget_s: float, ahead: asyncio.Task[None]) -> bool:
        """Whether the task that adds and compiles expected launches ends in time; otherwise they are dropped."""
        _, late = await asyncio.wait([ahead], timeout=budget_s)
        if late:
            self.expect_no_more()
        return not late

    async def all_begun(self) -> None:
        """Wait until compiling has begun for everything that was added so far, or no compiler is left."""
        await self._turns.until_taken()

    async def settle(self) -> None:
        """Wait until everything that was added so far is compiled."""
        if waiting := [job.done for job in self._job_by_specialisation.values() if not job.done.done()]:
            await asyncio.wait(waiting)

    async def run(self) -> None:
        """Compile until `finish`.  If the file does not load here, its kernels are UNSUPPORTED, with the reason."""
        try:
            await self._released.wait()
            self._compiler.begin()
            async with asyncio.TaskGroup() as group:
                for place in range(len(self._sessions)):
                    group.create_task(self._serve(place, group))
        except ExceptionGroup as group_error:  # an internal error affects all of them, so one is reported
            raise group_error.exceptions[0] from group_error
        finally:
            self._over = True
            self._turns.drop()
            for job in self._job_by_specialisation.values():
                _settle(job)

    async def disassemble(self, on_artefact: Callable[[int, Artefact], None]) -> None:
        """Disassemble every NVIDIA binary of this run to SASS, one after another."""
        for number, binary in self._binaries:
            for artefact in await self._compiler.disassemble(binary):
                on_artefact(number, artefact)

    async def clear(self) -> None:
        """Kill the compilers.  Safe to call twice."""
        await asyncio.gather(*(session.clear() for session in self._sessions))

    async def _serve(self, place: int, group: asyncio.TaskGroup) -> None:
        session = self._sessions[place]
        await self._needed_sessions[place].wait()
        if self._publication is not None and place < self._ahead:
            try:
                await self._compiler.load(session)
            except (EngineError, OSError):
                await session.clear()  # retried and reported when there is something to compile

        async def describe(attempt: Attempt) -> None:
            compiled = await self._compiler.describe(attempt)
            group.create_task(self._keep(compiled))  # the next launch need not wait for that

        undescribed: deque[Attempt] = deque()
        while True:
            turn = self._turns.take_now(place)
            if turn is None and undescribed:
                await describe(undescribed.popleft())
                continue
            if (job := (turn or await self._turns.take(place)).job) is None:
                break
            attempt = await self._attempt(session, job)
            if attempt is None:
                continue
            if not attempt.is_to_be_described or len(undescribed) == _MOST_UNDESCRIBED:
                await describe(attempt)
            else:
                undescribed.append(attempt)
        for attempt in undescribed:
            await describe(attempt)

    async def _attempt(self, session: CandidateSession, job: Job) -> Attempt | None:
        """Compile the launch of a job; None if it is skipped."""
        if job.specialisation and not job.launched and not self._expects:
            self._pass_over(job)
            _settle(job)
            return None
        try:
            attempt = await self._compiler.compile(session, job.launch, job.specialisation)
        finally:
            _settle(job)
        if job.specialisation and not attempt.has_kernel:
            if not job.launched:
                # A tuner skips a configuration that does not build.
                self._pass_over(job)
                return None
            job.specialisation = ""
            attempt = await self._compiler.compile(session, job.launch, job.specialisation)
        return attempt

    async def _keep(self, compiled: CompiledLaunch) -> None:
        """Keep the stages of a kernel, and report it."""
        kernel = await self._compiler.kept(compiled)
        self.unfinished -= 1
        self.kernels.append(kernel)
        if compiled.binary is not None:
            self._binaries.append((len(self.kernels), compiled.binary))
        self._on_kernel(len(self.kernels), len(self._job_by_specialisation) - self._passed_over, kernel)

    def _pass_over(self, job: Job) -> None:
        """Skip a job without a report, unless it is launched after all."""
        job.passed_over = True
        self._passed_over += 1
        self.unfinished -= 1


def _settle(job: Job) -> None:
    """Release the callers that wait for this job."""
    if not job.done.done():
        job.done.set_result(None)


def _elements_a_thread(launch: Launch) -> int:
    """The elements of the largest tensor that the constants of a launch may describe, divided by its threads."""
    sizes = [int(value) for value in launch.constants.values() if value.isdecimal() and len(value) <= _MOST_DIGITS]
    return math.prod(size for size in sizes if size > 1) // (max(launch.num_warps, 1) * _THREADS_A_WARP)
