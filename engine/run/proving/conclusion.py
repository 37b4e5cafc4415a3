"""Conclusions from a replay: a case is proven, or the reason why not.  Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from engine.model.counts import counted
from engine.model.proof import COMPUTED_ELSEWHERE, CaseProof, Gap
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    Addressed,
    Filled,
    Given,
    Launched,
    LookedUp,
    Moved,
    Step,
    Tape,
    TapedNumber,
)
from engine.replay.agreement import Agreement, Disagreement
from engine.run.proving.replays import NotReplayed, Replayed
from engine.run.proving.torch_work import (
    ANY_ANSWER,
    AnswerKind,
    Weight,
    describe_memory,
    describe_work,
    memory_bytes,
    origins_of,
    weight_of,
)

_FAR = 16  # times the bytes of constants: a larger answer cannot be contained in them
_LEAST_RANDOM_BYTES = 256  # of memory with random numbers: states and offsets of generators are smaller
_NUMBER_BYTES = 8
_FEWEST_NUMBERS = 64  # fewest numbers that may be an answer: more than sizes and offsets of a few launches


def of_disagreement(case: str, tape: Tape, agreed: Agreement) -> CaseProof:
    """Why tapes of two contents that do not agree prove nothing."""
    if agreed.difference is Disagreement.SCALAR:
        return CaseProof(case=case, gap=Gap.SCALAR, reason=agreed.message)
    if tape.reads:
        return CaseProof(case=case, gap=Gap.HOST_READS, reason=_host_reads(tape))
    return CaseProof(case=case, gap=Gap.UNSTEADY, reason=agreed.message)


def of_numbers(case: str, numbers: int, answer_bytes: int, *, largest: int) -> CaseProof | None:
    """Why a case is not proven if the host passes numbers that can be its answer; None if they are too few.

    One number can decide several outputs, as a position decides a value and an index: as many as half of the elements
    of the `largest` output are enough, however wide they are.
    """
    if numbers < _FEWEST_NUMBERS or (numbers * _NUMBER_BYTES < answer_bytes and 2 * numbers < largest):
        return None
    answer = counted(answer_bytes, "byte")
    reason = f"the host passes {numbers:,} numbers that depend on the data, for an answer of {answer}"
    return CaseProof(case=case, gap=Gap.NUMBERS, reason=reason)


def of_answer_of_other_inputs(case: str) -> CaseProof:
    """Why a case is not proven whose tape gives the recorded answer on other inputs, too."""
    reason = "the host passes the answer: the launches and moves of a call give it on other inputs, too"
    return CaseProof(case=case, gap=Gap.NUMBERS, reason=reason)


def of_refusal(
    case: str, tape: Tape, refused: NotReplayed, varying: Collection[int] = (), *, answer: AnswerKind = ANY_ANSWER
) -> CaseProof:
    """Why a tape that could not be executed proves nothing; the other arguments are as in `of_mismatch`."""
    changing = _of_unknown_origin(tape, varying)
    if refused.stopped and changing:  # stopped by the noise that replaced the content of that memory
        return CaseProof(case=case, gap=Gap.MEMORY, reason=describe_memory(tape, changing))
    made = _first_made(tape, varying)
    if refused.stopped and made is not None:
        return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=describe_work(made, answer))
    return CaseProof(case=case, gap=Gap.UNSUPPORTED, reason=f"not replayed: {refused.reason}")


def of_mismatch(
    case: str, tape: Tape, replayed: Replayed, varying: Collection[int] = (), *, answer: AnswerKind = ANY_ANSWER
) -> CaseProof:
    """Why a replay gave another answer; `varying` are the Given steps whose content depends on the call.

    What torch computed weighs as much as it can be of this kind of `answer`; work on far less memory than that of the
    answer is light.  Results that were replayed as they were are no reason.
    """
    given = {number: step for number in replayed.foreign if isinstance(step := tape.steps[number], Given)}
    sources = tuple(given.values())
    weights = {
        step: min(weight_of(step, answer), Weight.ASSISTS if _is_little(tape, step, replayed) else Weight.COMPUTES)
        for number, step in given.items()
        if step.operator and (step.data is None or number in varying)
    }
    heaviest = max(weights, key=lambda step: weights[step], default=None)  # the first of those with equal weight
    computes = heaviest is not None and weights[heaviest] is Weight.COMPUTES
    changing = _of_unknown_origin(tape, set(varying).intersection(replayed.foreign))
    if changing and not computes:
        return CaseProof(case=case, gap=Gap.MEMORY, reason=describe_memory(tape, changing))
    if heaviest is not None:
        gap = Gap.TORCH if computes else Gap.TORCH_LIGHT
        return CaseProof(case=case, gap=gap, reason=describe_work(heaviest, answer))
    if sources:
        return CaseProof(case=case, gap=Gap.MEMORY, reason=describe_memory(tape, sources))
    if tape.reads:
        return CaseProof(case=case, gap=Gap.HOST_READS, reason=_host_reads(tape))
    reason = f"the recorded launches and moves do not give the answer: {replayed.mismatch}"
    return CaseProof(case=case, gap=Gap.NOT_REPRODUCED, reason=reason)


def of_other_inputs(case: str, mismatch: str) -> CaseProof:
    """Why a case is not proven whose tape gives the answer on the inputs that it was recorded with, but not on others.

    Its kernels compute the answer, and are wrong.
    """
    reason = f"right on the inputs of its calls, but wrong on others: {mismatch}"
    return CaseProof(case=case, gap=Gap.OTHER_INPUTS, reason=reason)


def of_one_order(case: str, mismatch: str) -> CaseProof:
    """Why a case is not proven whose kernels are right in one order of their programs only, which none guarantees."""
    reason = f"right with the programs of each grid in ascending order, but wrong backwards: {mismatch}"
    return CaseProof(case=case, gap=Gap.OTHER_INPUTS, reason=reason)


def of_other_outputs(case: str) -> CaseProof:
    """Why a case is not proven whose replays on the inputs of a call agree, but not with the outputs of that call."""
    reason = "the call returned other bits than its recorded launches and moves give on the same inputs"
    return CaseProof(case=case, gap=Gap.OTHER_OUTPUTS, reason=reason)


def of_unsteady_replays(case: str) -> CaseProof:
    """Why a case is not proven whose replays on the inputs of a call differ from each other."""
    reason = "two replays on the inputs of a call give different bits: the answer depends on memory that nothing wrote"
    return CaseProof(case=case, gap=Gap.OTHER_OUTPUTS, reason=reason)


def of_mismatch_as_called(case: str, replayed: Replayed) -> CaseProof:
    """Why a case is not proven whose tape gives the answer in replays, but not with inputs and memory of its call."""
    reason = f"right in replays, but wrong with the addresses and the memory of its call: {replayed.mismatch}"
    return CaseProof(case=case, gap=Gap.NOT_REPRODUCED, reason=reason)


def of_answer_in_memory(case: str, tape: Tape, step: Given) -> CaseProof:
    """Why a case is not proven whose answer was in memory of unknown origin before its kernels were launched."""
    reason = f"{describe_memory(tape, (step,))}, without whose content the call has no right answer"
    return CaseProof(case=case, gap=Gap.MEMORY, reason=reason)


def of_large_constants(case: str, tape: Tape, used: Collection[Given], answer_bytes: int) -> CaseProof:
    """Why a case that is wrong without constants as large as its answer, which may be in them, is not proven."""
    return CaseProof(
        case=case,
        gap=Gap.MEMORY,
        reason=describe_memory(tape, used),
        origins=origins_of(used),
        constant_bytes=bytes_of_constants(used),
        answer_bytes=answer_bytes,
    )


def of_numbers_for_all(case: str, number_bytes: int, answer_bytes: int) -> CaseProof | None:
    """Why a case is not proven whose kernels get a table of answers as addresses and numbers; None if they are few."""
    count = number_bytes // _NUMBER_BYTES
    if count < _FEWEST_NUMBERS:
        return None
    reason = f"the host passes {count:,} addresses and numbers, for an answer of {counted(answer_bytes, 'byte')}"
    return CaseProof(case=case, gap=Gap.NUMBERS, reason=reason)


def of_operators(case: str, tape: Tape, replayed: Replayed, varying: Collection[int]) -> CaseProof | None:
    """Why a right case is not proven whose answer may come from results of operators; None if it cannot.

    Kernels got results that depend on the arguments, or differ from call to call, and that were not made of far less
    memory than the answer has.  The answer is right with noise in their place, but a kernel can tell noise from a
    result.
    """
    numbers = [
        number
        for number in replayed.foreign
        if isinstance(step := tape.steps[number], Given) and step.operator and (step.data is None or number in varying)
    ]
    steps = [step for number in numbers if isinstance(step := tape.steps[number], Given)]
    if _FAR * sum(memory_bytes(tape, step) for step in steps) <= replayed.answer_bytes:
        return None
    first = max(steps, key=lambda step: weight_of(step, ANY_ANSWER))
    reason = f"{describe_work(first, ANY_ANSWER)}, and a kernel that stores the answer gets the result"
    return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=reason)


def of_kept_results(case: str, tape: Tape, steps: Iterable[Given]) -> CaseProof:
    """Why a case is not proven that is right with noise in memory of unknown origin, and wrong with its content."""
    reason = f"{describe_memory(tape, steps)}, with whose content the answer is wrong for other inputs"
    return CaseProof(case=case, gap=Gap.MEMORY, reason=reason)


def of_random_bits(case: str, tape: Tape, replayed: Replayed, scratch: Iterable[int]) -> CaseProof | None:
    """Why a random answer is not proven that may come of random numbers in memory of unknown origin; None if none may.

    There the noise of a replay serves as well as the numbers that the memory had in the call.
    """
    steps = [step for number in scratch if isinstance(step := tape.steps[number], Given)]
    size = sum(tape.storages[step.storage].bytes for step in steps)
    if size < _LEAST_RANDOM_BYTES or _FAR * size <= replayed.answer_bytes:
        return None
    reason = f"{describe_memory(tape, steps)}, which may hold the random numbers"
    return CaseProof(case=case, gap=Gap.MEMORY, reason=reason)


def of_match(case: str, tape: Tape, replayed: Replayed, used: Collection[Given], answer_bytes: int) -> CaseProof:
    """A replay that gave the answer proves the case, unless operators moved or cast what may be the answer."""
    moves = any(isinstance(step, Moved | LookedUp) for step in tape.steps)
    if not replayed.by_kernels and moves:
        reason = "no launch wrote one of the outputs, or most of it; operators of torch moved it"
        return CaseProof(case=case, gap=Gap.NO_LAUNCH, reason=reason)
    if replayed.rearranged_by is not None:
        move, may = _move(tape.steps[replayed.rearranged_by]), "" if replayed.made_by_moves else "may have "
        gap = Gap.TORCH if replayed.made_by_moves else Gap.TORCH_LIGHT
        return CaseProof(case=case, gap=gap, reason=f"the answer is a rearrangement, and {move} {may}made it")
    if replayed.truncated_by is not None and isinstance(cast := tape.steps[replayed.truncated_by], Moved):
        reason = f"torch drops the fractions of elements: a cast of {cast.source.dtype} to {cast.target.dtype}"
        return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=reason)
    if replayed.looks_up_table:
        reason = "torch looks up elements in a table that depends on no argument"
        return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=reason)
    if replayed.looks_up_by_fractions:
        reason = "torch looks up elements at positions that are the bits of fractions"
        return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=reason)
    if replayed.looks_up_foreign and used:
        reason = f"torch looks up elements, in or by {describe_memory(tape, used)}"
        return CaseProof(case=case, gap=Gap.TORCH_LIGHT, reason=reason)
    if not used:
        return CaseProof(case=case, moved_bytes=replayed.moved_bytes)
    return CaseProof(
        case=case,
        moved_bytes=replayed.moved_bytes,
        constants=describe_memory(tape, used),
        origins=origins_of(used),
        constant_bytes=bytes_of_constants(used),
        answer_bytes=answer_bytes,
    )


def of_seeds(proof: CaseProof, seeds: int, answer_bytes: int) -> CaseProof:
    """The proof of a case whose launches get other numbers in each call: too many of them can be the answer."""
    if seeds * _NUMBER_BYTES * _FAR <= answer_bytes:
        return proof
    count = "1 number differs" if seeds == 1 else f"{seeds} numbers differ"
    reason = f"{count} from call to call, for an answer of {counted(answer_bytes, 'byte')}"
    return CaseProof(case=proof.case, gap=Gap.SCALAR, reason=reason)


def of_other_seeds(proof: CaseProof, with_others: CaseProof) -> CaseProof:
    """The proof of a case, its tape also replayed with others in place of numbers that differ from call to call."""
    if with_others.proven:
        return proof
    reason = f"numbers differ from call to call, and with others in their place: {with_others.reason}"
    return CaseProof(case=proof.case, gap=Gap.SCALAR, reason=reason)


def is_idle(proof: CaseProof) -> bool:
    """Whether a case without launches is proven without a fill, a move or a constant: nothing was to be computed."""
    return proof.proven and not proof.moved_bytes and not proof.constants


def flagging(proofs: Iterable[CaseProof]) -> tuple[CaseProof, ...]:
    """The cases whose answer something other than the kernels computed.

    Constants as large as a small answer do not flag if memory from the same lines, at least as large, is far smaller
    than the answer of a proven case: its size does not grow with the answer.
    """
    every = tuple(proofs)
    bounds: dict[tuple[str, ...], int] = {}
    for proof in every:
        if proof.proven and proof.constants and proof.answer_bytes >= _FAR * proof.constant_bytes:
            bounds[proof.origins] = max(bounds.get(proof.origins, 0), proof.constant_bytes)
    return tuple(
        proof
        for proof in every
        if proof.gap in COMPUTED_ELSEWHERE
        and not (proof.origins and 0 < proof.constant_bytes <= bounds.get(proof.origins, 0))
    )


def _move(step: Step) -> str:
    """Description of one step of a torch operator."""
    match step:
        case LookedUp():
            return "a look-up by torch"
        case Filled():
            return "a fill by torch"
        case _:
            return "a copy by torch"


def bytes_of_constants(used: Iterable[Given]) -> int:
    """The bytes of constants that can hold an answer; one repeated byte, such as zeroed counters, cannot."""
    return sum(len(step.data) for step in used if step.data is not None and len(set(step.data)) > 1)


def can_hold_the_answer(constant_bytes: int, replayed: Replayed) -> bool:
    """Whether constants of this size can be a table in which the answer was looked up, not computed.

    Constants are the same for all contents, and made before them: they can contain answers that depend on the content
    only as a table with an entry for each value that the content can have.
    """
    return replayed.answer_bytes > 0 and constant_bytes >= max(replayed.answer_bytes, replayed.table_bytes)


def bytes_of_numbers(steps: Iterable[Step]) -> int:
    """The bytes of tables of addresses and numbers, and of the different numbers that launches get.

    Places may stand for answers as numbers do.
    """
    every = tuple(steps)
    words = sum(len(step.words) for step in every if isinstance(step, Addressed))
    values = (argument.value for step in every if isinstance(step, Launched) for argument in step.arguments)
    return _NUMBER_BYTES * (words + len({value for value in values if isinstance(value, TapedNumber | FloatSpec)}))


def may_hold_tables(steps: Iterable[Step]) -> bool:
    """Whether constants, addresses or numbers of a tape may be a table of answers."""
    every = tuple(steps)
    constants = bytes_of_constants(step for step in every if isinstance(step, Given))
    has_addresses = any(isinstance(step, Addressed) for step in every)
    return constants > 0 or has_addresses or bytes_of_numbers(every) >= _NUMBER_BYTES * _FEWEST_NUMBERS


def is_far_smaller(memory: Iterable[Given], answer_bytes: int) -> bool:
    """Whether the bytes of these steps are known, and too few to hold an answer of this size."""
    sizes = [len(step.data) if step.data is not None else answer_bytes for step in memory]
    return _FAR * sum(sizes) <= answer_bytes


def _first_made(tape: Tape, varying: Collection[int]) -> Given | None:
    """The first step of an operator whose result is replaced by noise; of one with any result if there is none."""
    steps = {n: step for n, step in enumerate(tape.steps) if isinstance(step, Given) and step.operator}
    replaced = (step for number, step in steps.items() if step.data is None or number in varying)
    return next(replaced, next(iter(steps.values()), None))


def _of_unknown_origin(tape: Tape, numbers: Collection[int]) -> list[Given]:
    """The Given steps of these numbers that no operator made."""
    steps = (tape.steps[number] for number in sorted(numbers))
    return [step for step in steps if isinstance(step, Given) and not step.operator]


def _is_little(tape: Tape, step: Given, replayed: Replayed) -> bool:
    """Whether an operator took and made far less than the answer has bytes."""
    return _FAR * memory_bytes(tape, step) <= replayed.answer_bytes


def _host_reads(tape: Tape) -> str:
    first = tape.reads[0]
    return f"the host reads results (`{first.operator}`{f', line {first.line}' if first.line else ''})"
