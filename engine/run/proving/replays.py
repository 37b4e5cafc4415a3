"""Replays of tapes: fresh content made by the judge in the replayer's memory, and the judge's comparison."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from engine import protocol
from engine.draws import Draws
from engine.errors import DeadlineError, EngineError
from engine.model import Case, Limits, Outcome, Problem
from engine.processes.process_pool import ProcessPool
from engine.processes.warm_pool import PooledProcess
from engine.protocol.proof.tape import Tape
from engine.replay.checks import ELEMENT_BYTES
from engine.run.proving.kernels import LoweredKernel

_HOLD_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """The judge's comparison of one replay; `mismatch` says what is wrong, "" when all is right.

    `rearranged_by` is the step of a move that may have computed an answer that is a rearrangement; `made_by_moves` is
    whether memory that moves alone filled holds it, which is allowed where the framework may copy.  `looks_up_foreign`
    is whether a look-up needed memory of a Given step.  `seed` made the inputs, `digests` are the judge's of the call,
    and `answer_bytes` is the size of all outputs.
    """

    mismatch: str
    moved_bytes: int
    foreign: tuple[int, ...]
    by_kernels: bool
    rearranged_by: int | None = None
    made_by_moves: bool = False
    looks_up_foreign: bool = False
    seed: int = 0
    answer_bytes: int = 0
    digests: protocol.ContentDigests | None = None


@dataclass(frozen=True, kw_only=True)
class NotReplayed:
    """Why a tape could not be executed to its end; `stopped` is whether a kernel failed with the content it met."""

    reason: str
    stopped: bool = False


class Replays:
    """One replayer for the tapes of one run; `close` at the end."""

    def __init__(
        self, *, process_pool: ProcessPool, problem: Problem, limits: Limits, draw_seed: int | None = None
    ) -> None:
        self._process_pool = process_pool
        self._problem = problem
        self._limits = limits
        self._draws = Draws(draw_seed, "replay")
        self._hand: PooledProcess | None = None
        self._held: set[str] = set()

    async def replay(
        self,
        case: Case,
        tape: Tape,
        kernels: Sequence[LoweredKernel],
        *,
        without: tuple[int, ...],
        seed: int | None = None,
    ) -> Replayed | NotReplayed:
        """Replay a tape on content of `case`, the data of the Given steps `without` replaced by noise.

        The content is another one each time unless a `seed` is given.

        Raises:
            EngineError: judge or replayer failed.
        """
        hand = await self._replayer()
        refused = await self._hold(hand, kernels)
        if refused is not None:
            return refused
        seed = self._draws.number(case.name) if seed is None else seed
        arena = hand.room.shared / f"{secrets.token_hex(8)}.in"
        prepare = protocol.Prepare(
            id=protocol.new_id(), problem=self._problem.id, case=case.name, poison=self._draws.number("poison", bits=8),
            arena_path=None if self._process_pool.shares_device else str(arena),
            seed=seed, apart=True, expects=False,
        )  # fmt: skip
        try:
            prepared = await self._process_pool.ask_judge(prepare)
            if not isinstance(prepared, protocol.Prepared):
                raise EngineError(f"the judge could not make inputs of {case.name}")
            command = protocol.ReplayTape(
                id=protocol.new_id(), tape=tape, kernels=tuple(kernel.name for kernel in kernels),
                arena=prepared.arena, outputs=str(arena.with_suffix(".out")),
                max_output_bytes=self._limits.output_bytes, most_bytes=self._limits.memory_bytes // 2,
                without=without, arguments=prepared.arguments, rearrangement=self._problem.rearrangement,
            )  # fmt: skip
            return await self._executed(hand, command, seed=seed)
        finally:
            with contextlib.suppress(EngineError):
                await self._process_pool.ask_judge(protocol.Release(id=protocol.new_id(), apart=True))
            for path in (arena, arena.with_suffix(".out")):
                path.unlink(missing_ok=True)

    async def close(self) -> None:
        """End the replayer.  Safe to call twice."""
        if self._hand is not None:
            hand, self._hand = self._hand, None
            await hand.dismiss()

    async def _replayer(self) -> PooledProcess:
        if self._hand is None or not self._hand.child.alive or self._hand.child.fault is not None:
            await self.close()
            self._hand, self._held = await self._process_pool.replayer.take(), set()
            await self._limit_reading(self._hand)
        return self._hand

    async def _limit_reading(self, hand: PooledProcess) -> None:
        """Leave a replayer only libraries, arenas and its own files to read, before it gets anything of a candidate."""
        readable = (str(hand.room.shared), str(hand.room.folder))
        command = protocol.LimitReading(id=protocol.new_id(), readable=readable)
        reply = await self._ask(hand, command, deadline_s=_HOLD_S)
        if isinstance(reply, protocol.Failed):
            raise EngineError(reply.message)

    async def _hold(self, hand: PooledProcess, kernels: Sequence[LoweredKernel]) -> NotReplayed | None:
        """Have the replayer read the modules that it does not hold; why one is refused."""
        for kernel in kernels:
            if kernel.name in self._held:
                continue
            command = protocol.HoldKernel(
                id=protocol.new_id(), name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments
            )
            reply = await self._ask(hand, command, deadline_s=_HOLD_S)
            if isinstance(reply, protocol.Failed):
                return NotReplayed(reason=reply.message)
            self._held.add(kernel.name)
        return None

    async def _executed(
        self, hand: PooledProcess, command: protocol.ReplayTape, *, seed: int
    ) -> Replayed | NotReplayed:
        try:
            reply = await self._ask(hand, command, deadline_s=self._limits.case_s)
        except DeadlineError:
            await self.close()
            return NotReplayed(reason=f"the replay took more than {self._limits.case_s:g} s")
        if isinstance(reply, protocol.Failed):
            if reply.broken:
                await self.close()
            return NotReplayed(reason=reply.message, stopped=reply.kind is protocol.FailureKind.RAISED)
        if not isinstance(reply, protocol.TapeReplayed):
            raise EngineError(f"the replayer answered with {type(reply).__name__}")
        compare = protocol.Compare(
            id=protocol.new_id(), outputs=command.outputs, max_output_bytes=command.max_output_bytes,
            returned=reply.returned, explain=False, apart=True, digests=True,
        )  # fmt: skip
        compared = await self._process_pool.ask_judge(compare)
        if not isinstance(compared, protocol.Compared):
            raise EngineError("the judge could not compare the outputs of a replay")
        return Replayed(
            mismatch=_mismatch(compared),
            moved_bytes=reply.moved_bytes,
            foreign=reply.foreign,
            by_kernels=reply.by_kernels,
            rearranged_by=reply.rearranged_by,
            made_by_moves=reply.made_by_moves and not self._problem.framework,
            looks_up_foreign=reply.looks_up_foreign,
            seed=seed,
            answer_bytes=sum(report.total * ELEMENT_BYTES.get(report.dtype, 1) for report in compared.reports),
            digests=compared.digests,
        )

    async def _ask(self, hand: PooledProcess, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        reply = await hand.child.ask(command, deadline_s=deadline_s)
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.ENGINE:
            raise EngineError(f"the replayer failed: {reply.message}")
        return reply


def _mismatch(compared: protocol.Compared) -> str:
    """What the judge found wrong, "" when nothing."""
    for report in compared.reports:
        if report.outcome is not Outcome.PASS:
            return report.message or f"{report.name} is {report.outcome}"
    return compared.mutated or ""
