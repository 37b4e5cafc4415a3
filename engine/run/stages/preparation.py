"""Prepares cases: the judge makes the inputs of a case where the worker maps them.

During the first call of a case the judge is idle: it makes the inputs of all calls of the next case meanwhile, at
another of its places.  They count only for the worker in whose folder they are; what failed in advance is made again
when it is needed, with the memory that is free then.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from engine import protocol
from engine.draws import Draws
from engine.errors import EngineError
from engine.model import Case, Finding, Plan, Severity
from engine.processes.candidate_session import CandidateSession
from engine.processes.process_pool import ProcessPool
from engine.run.event_stream import EventEmitter
from engine.run.stages.planned_calls import calls_of

_PLACES = (0, 1)
"""Places of the judge: the next case is prepared at the one that the case in progress does not have."""
AskJudge: TypeAlias = Callable[[protocol.AnyCommand, str], Awaitable[protocol.AnyReply | EngineError]]
"""Has the judge carry out a command, for this reason; an error is returned."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The judge's `reply` to the preparation of a case, its `place` there, and the `arena` for memory in a file."""

    place: int
    arena: Path
    reply: protocol.AnyReply | EngineError


@dataclass(frozen=True, kw_only=True)
class _Pending:
    """A preparation in progress, and its case."""

    case: Case
    making: asyncio.Task[Preparation]


class Preparer:
    """Prepares the cases of one run, filled with the byte `poison` where they have no inputs."""

    def __init__(
        self,
        plan: Plan,
        *,
        process_pool: ProcessPool,
        session: CandidateSession,
        emitter: EventEmitter,
        ask_judge: AskJudge,
        poison: int,
    ) -> None:
        self._plan = plan
        self._process_pool = process_pool
        self._session = session
        self._emitter = emitter
        self._ask_judge = ask_judge
        self._poison = poison
        self._pending: _Pending | None = None
        self._has_reported_unshared = False

    async def prepare(self, case: Case) -> Preparation:
        """The preparation of a case for the current worker."""
        made = await self._made_in_advance(case)
        if made is None:
            shared = self._process_pool.shares_device
            made = await self._make(case, _PLACES[0], self._session.shared)
            failed = made.reply
            # Only the judge's reply counts: a candidate must not choose how it is verified.
            if shared and isinstance(failed, protocol.Failed) and failed.kind is protocol.FailureKind.UNSUPPORTED:
                self._process_pool.share_no_more(failed.message)
                made = await self._make(case, _PLACES[0], self._session.shared)
        if self._process_pool.unshared and not self._has_reported_unshared:
            self._has_reported_unshared = True
            message = f"device memory is not shared between processes here ({self._process_pool.unshared})"
            message += "; tensors travel through the host"
            self._emitter.find(Finding(check="memory", severity=Severity.NOTE, message=message))
        return made

    def prepare_in_advance(self, case: Case, *, beside: int) -> None:
        """Start preparing the next case, if that is a gain; `beside` is the place of the case in progress.

        Inputs of foreign problems may be too large for memory twice.
        """
        if self._pending is None and self._plan.problem.suite is None:
            place = next(place for place in _PLACES if place != beside)
            fresh = any(call.fresh for call in calls_of(case, on_cpu=self._process_pool.interpreted))
            # The worker may end before this begins.
            making = self._make(case, place, self._session.shared, fresh_ahead=fresh)
            self._pending = _Pending(case=case, making=asyncio.create_task(making))

    async def close(self) -> None:
        """Drop a preparation in progress.  Safe to call twice."""
        if self._pending is not None:
            self._pending.making.cancel()
            await asyncio.gather(self._pending.making, return_exceptions=True)
            self._pending = None

    async def _made_in_advance(self, case: Case) -> Preparation | None:
        """The preparation of this case if it was made in advance for the current worker, else None."""
        if self._pending is None:
            return None
        pending, self._pending = self._pending, None
        made = await pending.making
        is_for_it = pending.case is case and made.arena.parent == self._session.shared
        return made if is_for_it and isinstance(made.reply, protocol.Prepared) else None

    async def _make(self, case: Case, place: int, folder: Path, *, fresh_ahead: bool = False) -> Preparation:
        """Have the judge prepare a case in memory that a worker maps: device memory, or a file in `folder`."""
        arena = folder / f"{secrets.token_hex(8)}.in"
        prepare = protocol.Prepare(
            id=protocol.new_id(),
            problem=self._plan.problem.id,
            case=case.name,
            poison=self._poison,
            arena_path=None if self._process_pool.shares_device else str(arena),
            seed=self._plan.seeds.get(case.name),
            place=place,
            draw_seed=Draws(self._plan.draw_seed, "verification").seed_of(case.name),
            fresh_ahead=fresh_ahead,
        )
        return Preparation(place=place, arena=arena, reply=await self._ask_judge(prepare, "make inputs"))
