"""Lowers kernels on another core while cases run on the CPU, so that the worker finds the TTIR of later cases.

On the CPU the frontend takes a third of a worker's time.  A second worker with the candidate calls the entry with
launches suppressed, case after case, and what its frontend makes is published in a folder of the run; workers that find
nothing there lower for themselves, so that nothing waits for it and its failures have no effect.  It begins behind the
cases that come first, and ends with those, for the workers of probes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from engine import protocol
from engine.errors import EngineError
from engine.model import Case, Plan
from engine.processes.candidate_session import CandidateSession
from engine.profile import Profile
from engine.protocol.compiling import LoweredKernel

FIRST_CASES = 2
"""Cases that the worker has begun before anything can be published for them."""
_CASE_S = 20.0
_MOST_BYTES = 64 << 20  # memory of a case: host code may fill it, which would slow the worker down


def is_useful(plan: Plan, cores: int) -> bool:
    """Whether a run on a CPU with so many cores is faster with another worker.

    Runs of a batch share the cores, short runs are over before, and the inputs of foreign problems are made elsewhere.
    """
    return cores > 1 and not plan.one_worker and len(plan.cases) > FIRST_CASES and plan.problem.suite is None


class LoweringAhead:
    """The lowering of one run; `run` once, beside the verification.  Modules are published in `folder`."""

    def __init__(
        self,
        plan: Plan,
        *,
        session: CandidateSession,
        folder: Path,
        profile: Profile,
        ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
    ) -> None:
        self._plan = plan
        self._session = session
        self._folder = folder
        self._profile = profile
        self._ask_judge = ask_judge

    async def run(self) -> None:
        """Lower the kernels of every case; afterwards the worker is closed."""
        cases = self._plan.cases
        try:
            await self._session.load()
            for case in (*cases[FIRST_CASES:], *cases[:FIRST_CASES]):
                await self._lower(case)
        except (EngineError, OSError):
            pass  # the verifying worker gets and reports the same error, or has no need of this one
        finally:
            await self._session.clear()

    async def _lower(self, case: Case) -> None:
        shape = await self._describe(case)
        if sum(shape.storages) > _MOST_BYTES:
            return
        command = protocol.RunDry(
            id=protocol.new_id(), case=case.name, arguments=shape.arguments, storages=shape.storages
        )
        with self._profile.span("lower ahead"):
            reply = await self._session.ask(command, deadline_s=_CASE_S)
        if isinstance(reply, protocol.DryRunDone):
            for kernel in reply.kernels:
                publish(self._folder, kernel)

    async def _describe(self, case: Case) -> protocol.Shape:
        problem = self._plan.problem.id
        describe = protocol.Describe(id=protocol.new_id(), problem=problem, cases=(case.name,), keeps=False)
        described = await self._ask_judge(describe)
        if not isinstance(described, protocol.Described):
            raise EngineError(f"the judge could not describe {case.name}")
        return described.shapes[0]


def publish(folder: Path, kernel: LoweredKernel) -> None:
    """Write a module to the folder, in one step: a worker may look for it now."""
    place = folder / kernel.filename(kernel.key)
    unfinished = place.with_suffix(".part")
    unfinished.write_text(kernel.ttir)
    unfinished.chmod(0o644)
    unfinished.replace(place)
