"""Replays of tapes: new content made by the judge in the replayer's memory, and the judge's comparison."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from engine import protocol
from engine.draws import Draws
from engine.errors import DeadlineError, EngineError
from engine.model import Case, Limits, Outcome, Problem, Rearrangement
from engine.processes.judge_requests import prepared_case, reason_in
from engine.processes.process_pool import ProcessPool
from engine.protocol.messages import MOST_PLACES
from engine.protocol.proof.tape import ELEMENT_BYTES, Tape
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.replayer import PersistentReplayer

# In the judge: one replay is prepared or compared while another runs, and the calls of the candidate have place 0.
PLACES = range(1, MOST_PLACES)
PLACES_BESIDE_PROBES = PLACES[-1:]  # a probe that runs beside the others has the first of these places
_MOST_TIMEOUTS = 2  # replays beyond their time limit before none is tried in this run


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """The judge's comparison of one replay; `mismatch` is the error, "" when all is right.

    `rearranged_by` is the step of a move that may have computed an answer that is a rearrangement; `made_by_moves` is
    whether memory that moves alone filled holds it, which is allowed where the framework may copy.  `looks_up_foreign`
    is whether a look-up needed memory of a Given step, `looks_up_table` whether one read what depends on no argument,
    at positions that do, and `looks_up_by_fractions` whether positions were fractions, or the bits of them.
    `truncated_by` is the step of a cast that dropped fractions of content that may depend on the arguments.  `seed`
    made the inputs, `digests` are the judge's of the call, and `answer_bytes` is the size of all outputs.
    `table_bytes` is the least size of constants that can hold half of the answer, 0 where that is any size or was not
    requested.  With `no_content` no argument has an element, though some are tensors.  `answers_other` is whether at
    least half of the elements are right for another content and not for this one, where that was requested.  `may_wait`
    is whether programs may wait for each other, and could run backwards.
    """

    mismatch: str
    moved_bytes: int
    foreign: tuple[int, ...]
    by_kernels: bool
    rearranged_by: int | None = None
    made_by_moves: bool = False
    looks_up_foreign: bool = False
    looks_up_table: bool = False
    looks_up_by_fractions: bool = False
    truncated_by: int | None = None
    seed: int = 0
    answer_bytes: int = 0
    digests: protocol.ContentDigests | None = None
    table_bytes: int = 0
    no_content: bool = False
    answers_other: bool = False
    may_wait: bool = False


@dataclass(frozen=True, kw_only=True)
class NotReplayed:
    """The reason why a tape was not executed to its end; `stopped` if a kernel failed with its content."""

    reason: str
    stopped: bool = False


class Replays:
    """Replays tapes with the replayer of a run; of several at once, as many as the judge has places for go on."""

    def __init__(
        self,
        replayer: PersistentReplayer,
        *,
        process_pool: ProcessPool,
        problem: Problem,
        limits: Limits,
        draw_seed: int | None = None,
        places: Sequence[int] = PLACES,
    ) -> None:
        self._replayer = replayer
        self._process_pool = process_pool
        self._problem = problem
        self._limits = limits
        self._draws = Draws(draw_seed, "replay")
        self._timeouts = 0
        self._free_places = asyncio.Queue[int]()
        for place in places:
            self._free_places.put_nowait(place)

    @property
    def on_device(self) -> bool:
        """Whether launches run on a device, whose programs have no fixed order."""
        return not self._process_pool.interpreted

    @property
    def has_one_answer(self) -> bool:
        """Whether the problem has one right answer, and no random ones."""
        return self._problem.determinism.has_one_answer

    @property
    def rearrangement(self) -> Rearrangement:
        """Whether the answer of the problem consists of elements of its arguments."""
        return self._problem.rearrangement

    async def replay(
        self,
        case: Case,
        tape: Tape,
        kernels: Sequence[LoweredKernel],
        *,
        without: tuple[int, ...],
        seed: int | None = None,
        tables: bool = False,
        other_seed: int | None = None,
        backwards: bool = False,
    ) -> Replayed | NotReplayed:
        """Replay a tape on content of `case`, the data of the Given steps `without` replaced by noise.

        The content is new each time unless a `seed` is given.  With `tables` the judge finds out how large a table
        of answers would be, with `other_seed` whether the answer is that to the content of that seed.  With
        `backwards` programs of kernels that may wait run in descending order.

        Raises:
            EngineError: judge or replayer failed.
        """
        if self._timeouts >= _MOST_TIMEOUTS:
            return NotReplayed(reason=f"not tried: {self._timeouts} replays took more than {self._limits.case_s:g} s")
        if refused := await self._replayer.hold(kernels, tape.specialisations):
            return NotReplayed(reason=refused)
        shared = await self._replayer.shared()
        seed = self._draws.number(case.name) if seed is None else seed
        arena = shared / f"{secrets.token_hex(8)}.in"
        poison = self._draws.number(f"poison of {case.name}", bits=8)
        place = await self._free_places.get()
        prepare = protocol.Prepare(
            id=protocol.new_id(), problem=self._problem.id, case=case.name, poison=poison,
            arena_path=None if self._process_pool.shares_device else str(arena),
            seed=seed, place=place, expects=False,
        )  # fmt: skip
        try:
            async with prepared_case(self._process_pool, prepare) as prepared:
                command = protocol.ReplayTape(
                    id=protocol.new_id(), tape=tape, kernels=tuple(kernel.name for kernel in kernels),
                    arena=prepared.arena, outputs=str(arena.with_suffix(".out")),
                    max_output_bytes=self._limits.output_bytes, most_bytes=self._limits.memory_bytes // 2,
                    without=without, arguments=prepared.arguments, rearrangement=self._problem.rearrangement_in(case),
                    backwards=backwards,
                )  # fmt: skip
                return await self._executed(command, place=place, seed=seed, tables=tables, other_seed=other_seed)
        finally:
            self._free_places.put_nowait(place)
            for path in (arena, arena.with_suffix(".out")):
                path.unlink(missing_ok=True)

    async def _executed(
        self, command: protocol.ReplayTape, *, place: int, seed: int, tables: bool, other_seed: int | None
    ) -> Replayed | NotReplayed:
        try:
            reply = await self._replayer.ask(command, deadline_s=self._limits.case_s)
        except DeadlineError:
            self._timeouts += 1
            return NotReplayed(reason=f"the replay took more than {self._limits.case_s:g} s")
        if isinstance(reply, protocol.Failed):
            return NotReplayed(reason=reply.message, stopped=reply.kind is protocol.FailureKind.RAISED)
        if not isinstance(reply, protocol.TapeReplayed):
            raise EngineError(f"the replayer answered with {type(reply).__name__}")
        compare = protocol.Compare(
            id=protocol.new_id(), outputs=command.outputs, max_output_bytes=command.max_output_bytes,
            returned=reply.returned, explain=False, place=place, digests=True, tables=tables,
            other_seed=other_seed,
        )  # fmt: skip
        compared = await self._process_pool.ask_judge(compare)
        if not isinstance(compared, protocol.Compared):
            raise EngineError(f"the judge could not compare the outputs of a replay{reason_in(compared)}")
        return Replayed(
            mismatch=mismatch_of(compared),
            moved_bytes=reply.moved_bytes,
            foreign=reply.foreign,
            by_kernels=reply.by_kernels,
            rearranged_by=reply.rearranged_by,
            made_by_moves=reply.made_by_moves and not self._problem.framework,
            looks_up_foreign=reply.looks_up_foreign,
            looks_up_table=reply.looks_up_table,
            looks_up_by_fractions=reply.looks_up_by_fractions,
            truncated_by=reply.truncated_by,
            seed=seed,
            answer_bytes=sum(report.total * ELEMENT_BYTES.get(report.dtype, 1) for report in compared.reports),
            digests=compared.digests,
            table_bytes=compared.table_bytes or 0,
            no_content=_has_no_content(command),
            answers_other=_answers_other(compared),
            may_wait=reply.may_wait,
        )


def _has_no_content(command: protocol.ReplayTape) -> bool:
    """Whether there are tensors among the arguments, all of them without elements."""
    shapes = [part.shape for value in command.arguments for part in protocol.tensor_specs(value)]
    return bool(shapes) and all(0 in shape for shape in shapes)


def _answers_other(compared: protocol.Compared) -> bool:
    """Whether at least half of the elements are right for the other content and wrong for the current one."""
    total = sum(report.total for report in compared.reports)
    right = total - sum(report.mismatched for report in compared.reports)
    return total > 0 and 2 * ((compared.right_for_other or 0) - right) >= total


def mismatch_of(compared: protocol.Compared) -> str:
    """Mismatch that the judge found; "" if there is none."""
    for report in compared.reports:
        if report.outcome is not Outcome.PASS:
            return report.message or f"{report.name} is {report.outcome}"
    return compared.mutated or ""
