"""Lowers kernels on another core while cases run on the CPU, so that the worker finds the TTIR of later cases.

On the CPU the frontend takes a third of a worker's time.  A second worker with the candidate calls the entry with
launches suppressed, case after case; a compiler lowers what would be launched, for the proof as well, and the TTIR is
published in a folder of the run.  Workers that find nothing there lower for themselves, so that nothing waits for it
and its failures have no effect.  It begins behind the case that comes first, and lowers that last, for the workers of
probes.  A candidate can make a compiler lower something else than a worker would: the first specialisation of each
kernel, and one in 16 of the others, are not published, so that the proof compares what workers lower themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from engine import protocol
from engine.draws import Draws
from engine.errors import EngineError
from engine.model import Case, Launch, Plan
from engine.processes.candidate_session import CandidateSession
from engine.processes.judge_requests import reason_in
from engine.profile import Profile
from engine.protocol.compiling import KeyedLaunch, published_name
from engine.run.proving.kernels import NotLoweredError

FIRST_CASES = 1
"""Cases that the worker has begun before anything can be published for them."""
_TOGETHER = 4  # cases that the judge describes at once, while those before are run dry: it has other work
_CASE_S = 20.0
_BITS_OF_WITHHELD = 4  # one specialisation in 16 is not published
_MOST_BYTES = 64 << 20  # memory of a case: host code may fill it, which would slow the worker down


def is_useful(plan: Plan, cores: int) -> bool:
    """Whether a run on a CPU with so many cores is faster with another worker.

    Runs of a batch share the cores, short runs are over before, and the inputs of foreign problems are made elsewhere.
    """
    return cores > 1 and not plan.one_worker and len(plan.cases) > FIRST_CASES and plan.problem.suite is None


class LoweringAhead:
    """The lowering of one run; `run` once, beside the verification.

    `lower` returns the TTIR of a launch as workers whose kernel is in this state can use it, "" where it cannot be
    shared.  It is published in `folder`.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        session: CandidateSession,
        lower: Callable[[Launch, str], Awaitable[str]],
        folder: Path,
        profile: Profile,
        ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
    ) -> None:
        self._plan = plan
        self._session = session
        self._lower = lower
        self._folder = folder
        self._profile = profile
        self._ask_judge = ask_judge
        self._draws = Draws(plan.draw_seed, "lowering")
        self._found: asyncio.Queue[KeyedLaunch | None] = asyncio.Queue()
        self._kernels: set[tuple[str, int, str]] = set()

    async def run(self) -> None:
        """Lower the kernels of every case; raises nothing."""
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._publish_all())
            await self._find_all()
            self._found.put_nowait(None)

    async def _find_all(self) -> None:
        """Run every case dry; afterwards the worker is closed."""
        cases = (*self._plan.cases[FIRST_CASES:], *self._plan.cases[:FIRST_CASES])
        try:
            described, loaded = await asyncio.gather(
                self._describe(cases[:_TOGETHER]), self._session.load(), return_exceptions=True
            )  # both have ended now: a worker that was still being loaded would never be ended
            if isinstance(loaded, BaseException):
                raise loaded
            if isinstance(described, BaseException):
                raise described
            shapes = described
            for start in range(0, len(cases), _TOGETHER):
                now, next_ones = cases[start : start + _TOGETHER], cases[start + _TOGETHER : start + 2 * _TOGETHER]
                shapes, _ = await asyncio.gather(self._describe(next_ones), self._run_each_dry(now, shapes))
        except (EngineError, OSError):
            pass  # the verifying worker gets and reports the same error, or has no need of this one
        finally:
            await self._session.clear()

    async def _run_each_dry(self, cases: Sequence[Case], shapes: Sequence[protocol.Shape]) -> None:
        for case, shape in zip(cases, shapes, strict=True):
            await self._run_dry(case, shape)

    async def _run_dry(self, case: Case, shape: protocol.Shape) -> None:
        if sum(shape.storages) > _MOST_BYTES:
            return
        command = protocol.RunDry(
            id=protocol.new_id(), case=case.name, arguments=shape.arguments, storages=shape.storages
        )
        with self._profile.span("dry run"):
            reply = await self._session.ask(command, deadline_s=_CASE_S)
        if isinstance(reply, protocol.DryRunDone):
            for keyed in reply.keyed:
                self._found.put_nowait(keyed)

    async def _publish_all(self) -> None:
        """Lower and publish what dry runs find, until their end; kernels that cannot be lowered are left out."""
        while (keyed := await self._found.get()) is not None:
            try:
                with self._profile.span("lower ahead"):
                    text = await self._lower(keyed.launch, keyed.state)
                if text and not self._is_withheld(keyed.launch):
                    publish(self._folder, keyed.key, text)
            except (NotLoweredError, EngineError, OSError):
                continue  # the proof gets and reports the same error

    def _is_withheld(self, launch: Launch) -> bool:
        """Whether workers have to lower this launch themselves: the first of a kernel, or one that is drawn."""
        kernel = (launch.kernel, launch.line, launch.closure)
        is_first = kernel not in self._kernels
        self._kernels.add(kernel)
        return is_first or self._draws.number("withheld", bits=_BITS_OF_WITHHELD) == 0

    async def _describe(self, cases: Sequence[Case]) -> Sequence[protocol.Shape]:
        if not cases:
            return ()
        names = tuple(case.name for case in cases)
        describe = protocol.Describe(id=protocol.new_id(), problem=self._plan.problem.id, cases=names, keeps=False)
        described = await self._ask_judge(describe)
        if not isinstance(described, protocol.Described):
            raise EngineError(f"the judge could not describe {', '.join(names)}{reason_in(described)}")
        return described.shapes


def publish(folder: Path, key: str, text: str) -> None:
    """Write a module to the folder, in one step: a worker may look for it now."""
    place = folder / published_name(key)
    unfinished = place.with_suffix(".part")
    unfinished.write_text(text)
    unfinished.chmod(0o644)
    unfinished.replace(place)
