"""The proof of one case by its tape: replays on content of the judge's, and the conclusions from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from engine.model import Case, Rearrangement
from engine.model.proof import COMPUTED_ELSEWHERE, CaseProof, Gap
from engine.protocol.proof.tape import Given, Tape
from engine.run.proving import conclusion
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.replays import NotReplayed, Replayed, Replays
from engine.run.proving.taped_calls import CallOutputs
from engine.run.proving.torch_work import AnswerKind

_ATOMIC = "tt.atomic"  # operations of TTIR
_MOST_SCRATCH = 16  # pieces of scratch memory of a case that are replaced one by one


@dataclass(frozen=True, kw_only=True)
class TapedCase:
    """A case, a tape of it and the kernels that it launches; `varying` are Given steps whose data is not used.

    With `answers_bools` every output is of bools, with `answers_integers` one is of integers: integers that torch
    computed may be a part of such an answer.
    """

    case: Case
    tape: Tape
    kernels: Sequence[LoweredKernel]
    varying: tuple[int, ...] = ()
    answers_bools: bool = False
    answers_integers: bool = False

    def answer(self, rearrangement: Rearrangement) -> AnswerKind:
        """The kind of its answer; integers that torch computed are no elements of a rearrangement with fractions."""
        is_rearrangement = rearrangement.is_certain
        may_be_integers = self.answers_bools or (self.answers_integers and not is_rearrangement)
        return AnswerKind(
            has_fractions=self.case.dtype.epsilon > 0 and not may_be_integers, is_rearrangement=is_rearrangement
        )


@dataclass(frozen=True, kw_only=True)
class ProofAttempt:
    """The proof of a case, and the replay it is based on; None if the tape could not be executed."""

    proof: CaseProof
    replayed: Replayed | None = None


async def try_to_prove(replays: Replays, taped: TapedCase, *, seed: int | None = None) -> ProofAttempt:
    """Replay the tape on content of this seed, a new one by default, and once more without large constants.

    Raises:
        EngineError: judge or replayer failed.
    """
    name, tape = taped.case.name, taped.tape
    answer = taped.answer(replays.rearrangement)
    has_tables = conclusion.may_hold_tables(tape.steps)
    replayed = await replays.replay(
        taped.case, tape, taped.kernels, without=taped.varying, seed=seed, tables=has_tables
    )
    if isinstance(replayed, NotReplayed):
        return ProofAttempt(proof=conclusion.of_refusal(name, tape, replayed, taped.varying, answer=answer))
    if replayed.mismatch:
        proof = conclusion.of_mismatch(name, tape, replayed, taped.varying, answer=answer)
        if proof.gap is Gap.NOT_REPRODUCED:
            proof = await _of_small_integers(replays, taped, answer) or proof
        return ProofAttempt(proof=proof, replayed=replayed)
    if (gap := await _of_scratch(replays, taped, replayed)) is not None:
        return ProofAttempt(proof=gap, replayed=replayed)
    used = _constants(tape, replayed.foreign, taped.varying)
    can_hold = _can_hold_the_answer(conclusion.bytes_of_constants(used), replays, replayed)
    if used and (can_hold or replayed.looks_up_foreign):
        # Replayed only if it decides: a kernel that takes noise for bounds of loops may run for long.
        if await _is_right_without(replays, taped):
            used = ()
        elif can_hold:
            size = replayed.answer_bytes
            return ProofAttempt(proof=conclusion.of_large_constants(name, tape, used, size), replayed=replayed)
    return ProofAttempt(proof=_of_right_answer(replays, taped, replayed, used), replayed=replayed)


async def _of_small_integers(replays: Replays, taped: TapedCase, answer: AnswerKind) -> CaseProof | None:
    """Why a case is not proven whose kernels store nothing where integers of torch are noise; None for another reason.

    A kernel skips a negative position, so that nothing it stores comes of the noise; it does not skip a zero.
    """
    name, tape = taped.case.name, taped.tape
    zeros = tuple(
        msgspec.structs.replace(step, data=bytes(tape.storages[step.storage].bytes))
        if isinstance(step, Given) and step.integers and step.data is None
        else step
        for step in tape.steps
    )
    if zeros == tape.steps:
        return None
    small = msgspec.structs.replace(tape, steps=zeros)
    again = await replays.replay(taped.case, small, taped.kernels, without=taped.varying)
    if isinstance(again, NotReplayed):
        return conclusion.of_refusal(name, tape, again, taped.varying, answer=answer) if again.stopped else None
    proof = conclusion.of_mismatch(name, tape, again, taped.varying, answer=answer)
    return proof if proof.gap is not Gap.NOT_REPRODUCED else None


def _of_right_answer(replays: Replays, taped: TapedCase, replayed: Replayed, used: tuple[Given, ...]) -> CaseProof:
    """The conclusion from a replay that gave the right answer with these constants."""
    name, tape, size = taped.case.name, taped.tape, replayed.answer_bytes
    number_bytes = conclusion.bytes_of_numbers((*(tape.steps[number] for number in replayed.foreign), *tape.launches))
    gap: CaseProof | None = None
    if replayed.table_bytes and _can_hold_the_answer(number_bytes, replays, replayed):
        gap = conclusion.of_numbers_for_all(name, number_bytes, size)
    gap = gap or conclusion.of_operators(name, tape, replayed, taped.varying)
    if not replays.has_one_answer:
        gap = gap or conclusion.of_random_bits(name, tape, replayed, _scratch(taped, replayed))
    return gap or conclusion.of_match(name, tape, replayed, used, size)


def _can_hold_the_answer(constant_bytes: int, replays: Replays, replayed: Replayed) -> bool:
    """Whether constants of this size can hold the answer.

    They cannot hold a rearrangement of content, which consists of the arguments' elements.  Without content there is
    nothing to compute: the answer is a constant.
    """
    if replayed.no_content or (replays.rearrangement.is_certain and replayed.table_bytes):
        return False
    return conclusion.can_hold_the_answer(constant_bytes, replayed)


async def try_on_other_inputs(replays: Replays, taped: TapedCase, *, own_seed: int) -> ProofAttempt:
    """As `try_to_prove` on new content; a tape that is wrong there is also tried on its own, that of `own_seed`.

    Raises:
        EngineError: judge or replayer failed.
    """
    tried = await try_to_prove(replays, taped)
    if tried.proof.gap is not Gap.NOT_REPRODUCED or tried.replayed is None:
        return tried
    own = await try_to_prove(replays, taped, seed=own_seed)
    if not own.proof.proven:
        return tried
    return replace(tried, proof=conclusion.of_other_inputs(taped.case.name, tried.replayed.mismatch))


async def refuted_as_called(replays: Replays, called: TapedCase, outputs: CallOutputs) -> CaseProof | None:
    """Why a case is not proven whose tape, replayed as it was called, gives another answer; None if it does not.

    The outputs are those of a call with this tape, whose inputs are used again; in host memory also its addresses and
    the content of its scratch memory, since a kernel that can tell calls from replays may leave the answer of calls to
    others.  Replays that agree with each other must have the outputs of the call.  Replays in host memory differ from
    each other where memory that nothing wrote reaches an output, which may happen if any content is right.  On a device
    kernels with atomic operations may give other bits in each call.

    Raises:
        EngineError: judge or replayer failed.
    """
    name, on_device = called.case.name, replays.on_device
    if on_device and any(_ATOMIC in kernel.ttir for kernel in called.kernels):
        return None
    without = called.varying if on_device else ()
    first = await replays.replay(called.case, called.tape, called.kernels, without=without, seed=outputs.seed)
    if isinstance(first, NotReplayed):
        return None if on_device else conclusion.of_refusal(name, called.tape, first)
    if not on_device:
        if first.mismatch:
            return conclusion.of_mismatch_as_called(name, first)
        if (gap := await _of_answer_in_scratch(replays, called, first, seed=outputs.seed)) is not None:
            return gap
    if first.digests is None or first.digests.outputs == outputs.digest:
        return None
    again = await replays.replay(called.case, called.tape, called.kernels, without=without, seed=outputs.seed)
    if isinstance(again, NotReplayed):
        return None if on_device else conclusion.of_refusal(name, called.tape, again)
    if again.digests is None or again.digests.outputs == first.digests.outputs:
        return conclusion.of_other_outputs(name)
    return conclusion.of_unsteady_replays(name) if replays.has_one_answer and not on_device else None


async def _of_answer_in_scratch(
    replays: Replays, called: TapedCase, replayed: Replayed, *, seed: int
) -> CaseProof | None:
    """Why a case is not proven whose answer is wrong without the content that one piece of scratch memory had.

    All else is as in the call with the inputs of `seed`, so that a kernel that recognises its inputs finds its answer.
    A replay that is not executed to its end proves nothing, and neither do more pieces than are replaced.
    """
    name, tape, scratch = called.case.name, called.tape, _scratch(called, replayed)
    if len(scratch) > _MOST_SCRATCH:
        reason = f"{len(scratch)} pieces of memory of unknown origin, more than {_MOST_SCRATCH}"
        return conclusion.of_refusal(name, tape, NotReplayed(reason=reason))
    for number in scratch:
        again = await replays.replay(called.case, tape, called.kernels, without=(number,), seed=seed)
        if isinstance(again, NotReplayed) and not again.stopped:
            return conclusion.of_refusal(name, tape, again)
        if (isinstance(again, NotReplayed) or again.mismatch) and isinstance(step := tape.steps[number], Given):
            return conclusion.of_answer_in_memory(name, tape, step)
    return None


async def refuted_backwards(replays: Replays, taped: TapedCase, replayed: Replayed) -> CaseProof | None:
    """Why a case is not proven whose kernels take locks, but give the answer only if programs run in ascending order.

    The content is that of the replay, which gave the right answer.  A replay that is not executed refutes nothing.

    Raises:
        EngineError: judge or replayer failed.
    """
    if not replayed.may_wait:
        return None
    again = await replays.replay(
        taped.case, taped.tape, taped.kernels, without=taped.varying, seed=replayed.seed, backwards=True
    )
    if isinstance(again, NotReplayed) or not again.mismatch:
        return None
    return conclusion.of_one_order(taped.case.name, again.mismatch)


async def refuted_by(replays: Replays, executed: TapedCase, *, own_seed: int) -> CaseProof | None:
    """Why a case is not proven whose worker executed these kernels, which are not those of the file.

    None if they give the answer, too.  Kernels that give it on the inputs of the call, those of `own_seed`, are wrong.

    Raises:
        EngineError: judge or replayer failed.
    """
    proof = (await try_on_other_inputs(replays, executed, own_seed=own_seed)).proof
    if proof.proven:
        return None
    if proof.gap is Gap.OTHER_INPUTS:
        return proof
    return replace(proof, reason=f"the kernels that ran are not those of the file: {proof.reason}")


async def computed_elsewhere(
    replays: Replays, taped: TapedCase, other: Tape, *, seed: int, answer_bytes: int
) -> CaseProof | None:
    """Why a tape does not even give the answer on its own inputs, those of `seed`; None if it does.

    For a tape that holds for no other inputs, because the host read content, or passed numbers that depend on it.
    Memory of unknown origin that the tape `other` does not have is used if it is far smaller than the answer.

    Raises:
        EngineError: judge or replayer failed.
    """
    known = {step.data for step in other.steps if isinstance(step, Given)}
    given = ((number, step) for number, step in enumerate(taped.tape.steps) if isinstance(step, Given))
    own = {number: step for number, step in given if step.data is None or step.data not in known}
    varying = () if conclusion.is_far_smaller(own.values(), answer_bytes) else tuple(own)
    unread = replace(taped, tape=msgspec.structs.replace(taped.tape, reads=()), varying=varying)
    tried = await try_to_prove(replays, unread, seed=seed)
    return tried.proof if tried.proof.gap in COMPUTED_ELSEWHERE else None


async def answers_other_inputs(replays: Replays, taped: TapedCase, *, seed: int) -> bool:
    """Whether a tape gives the answer for the inputs of `seed` on other inputs: then its numbers contain it.

    Raises:
        EngineError: judge or replayer failed.
    """
    unread = msgspec.structs.replace(taped.tape, reads=())
    again = await replays.replay(taped.case, unread, taped.kernels, without=taped.varying, other_seed=seed)
    return isinstance(again, Replayed) and again.answers_other


async def _is_right_without(replays: Replays, taped: TapedCase) -> bool:
    """Whether the answer is right without content of unknown origin, which was then only scratch memory."""
    every = tuple(number for number, step in enumerate(taped.tape.steps) if isinstance(step, Given))
    without = tuple({*every, *taped.varying})
    again = await replays.replay(taped.case, taped.tape, taped.kernels, without=without)
    return not isinstance(again, NotReplayed) and not again.mismatch


def _scratch(taped: TapedCase, replayed: Replayed) -> tuple[int, ...]:
    """The Given steps of unknown origin whose content varies from call to call, and that an output may come from."""
    steps = ((number, taped.tape.steps[number]) for number in taped.varying if number in replayed.foreign)
    return tuple(number for number, step in steps if isinstance(step, Given) and not step.operator)


async def _of_scratch(replays: Replays, taped: TapedCase, replayed: Replayed) -> CaseProof | None:
    """Why a case is not proven whose answer is wrong with the content that scratch memory had in the call.

    Scratch memory may hold anything; a kernel that takes results from there may tell them from the noise of a replay.
    """
    scratch = _scratch(taped, replayed)
    if not scratch:
        return None
    without = tuple(number for number in taped.varying if number not in scratch)
    again = await replays.replay(taped.case, taped.tape, taped.kernels, without=without)
    if isinstance(again, NotReplayed) and not again.stopped:
        return conclusion.of_refusal(taped.case.name, taped.tape, again)
    if isinstance(again, Replayed) and not again.mismatch:
        return None
    steps = [step for number in scratch if isinstance(step := taped.tape.steps[number], Given)]
    return conclusion.of_kept_results(taped.case.name, taped.tape, steps)


def _constants(tape: Tape, foreign: tuple[int, ...], varying: tuple[int, ...]) -> tuple[Given, ...]:
    """The Given steps whose data an output may come from."""
    steps = (tape.steps[number] for number in foreign if number not in varying)
    return tuple(step for step in steps if isinstance(step, Given) and step.data is not None)
