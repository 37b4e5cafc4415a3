"""Deliberately wrong answers, called lies: each must be rejected by some case.

A lie is a function of a trial and a case that returns outputs, or None if it does not apply to the case.
`ProblemDefinition.cannot_reject` lists the lies that equal a right answer of the operator, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from engine.model import Case, Determinism, DType, Tier
from problems.kit import torch
from problems.rules.trial import OTHER_SEED, Trial
from problems.rules.values import each_tensor, form_of, has_fractions, same_values, tensors_in, widened

if TYPE_CHECKING:
    from problems.rules.values import Outputs

Lie: TypeAlias = "Callable[[Trial, Case], Outputs | None]"


def zeros(trial: Trial, case: Case) -> Outputs | None:
    """All elements zero."""
    return tuple(map(torch.zeros_like, trial.expected(case)))


def ones(trial: Trial, case: Case) -> Outputs | None:
    """All elements one."""
    return tuple(map(torch.ones_like, trial.expected(case)))


def mean(trial: Trial, case: Case) -> Outputs | None:
    """The mean of the answer in every element."""
    return tuple(
        torch.full_like(output, widened(output).mean().nan_to_num(0.0, 0.0, 0.0).item())
        for output in trial.expected(case)
    )


def backwards(trial: Trial, case: Case) -> Outputs | None:
    """The answer with its elements in reverse order."""

    def turned(output: torch.Tensor) -> torch.Tensor:
        codes = output.flatten().view(torch.uint8) if output.element_size() == 1 else output.flatten()
        return codes.flip(0).view(output.dtype).view(output.shape)  # torch has no flip of float8

    return tuple(map(turned, trial.expected(case)))


def tail_missing(trial: Trial, case: Case) -> Outputs | None:
    """The answer with its last element set to 0; None if that element is 0 in every output."""
    answers = tuple(output.clone(memory_format=torch.contiguous_format) for output in trial.expected(case))
    tails = [answer.view(-1)[-1:] for answer in answers]
    if not any(bool((tail != 0).any()) for tail in tails):
        return None
    for tail in tails:
        tail.zero_()
    return answers


def unchanged_input(trial: Trial, case: Case) -> Outputs | None:
    """For each output the first argument with its shape and dtype; None if an output has no such argument."""
    tensors = tensors_in(trial.given(case))
    answers = []
    for wanted in trial.expected(case):
        alike = [tensor for tensor in tensors if form_of((tensor,)) == form_of((wanted,))]
        if not alike:
            return None
        answers.append(alike[0])
    return tuple(answers)


def untouched_arguments(trial: Trial, case: Case) -> Outputs | None:
    """Outputs of an entry without any effect; None if it returns new tensors."""
    if not trial.problem.mutates:
        return None
    written = trial.written(trial.given(case))
    answers = (*written[: trial.problem.returns], *written)
    return answers if form_of(answers) == form_of(trial.expected(case)) else None


def answer_to_other_inputs(trial: Trial, case: Case) -> Outputs | None:
    """The answer to the inputs of another seed."""
    answer = trial.expected(case, OTHER_SEED)
    return answer if form_of(answer) == form_of(trial.expected(case)) else None


def answer_of_another_case(trial: Trial, case: Case) -> Outputs | None:
    """The answer of the first other case that has outputs of the same shapes and dtypes, to another seed."""
    form = form_of(trial.expected(case))
    for other in trial.cases:
        if other.name != case.name and form_of(trial.expected(other)) == form:
            return trial.expected(other, OTHER_SEED)
    return None


def bfloat16_arithmetic(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer to inputs that were rounded to bfloat16, for a float32 problem."""
    return _from_degraded(trial, case, torch.float32, lambda x: x.bfloat16().float())


def tensorfloat32_arithmetic(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer to inputs cut to the ten mantissa bits of TF32, for a float32 problem."""
    return _from_degraded(
        trial, case, torch.float32, lambda x: (x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)
    )


def single_arithmetic(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer to inputs that were rounded to float32, for a float64 problem."""
    return _from_degraded(trial, case, torch.float64, lambda x: x.float().double())


def integers_in_single(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer to 32-bit and 64-bit integers rounded to float32; None if all integers are exact in it."""
    if case.dtype not in (DType.INT32, DType.INT64):
        return None
    arguments = each_tensor(trial.copies(case), _through_float32)
    return None if same_values(trial.given(case), arguments) else trial.eager_on(arguments)


def nan_dropped(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer with every NaN of the inputs replaced by 0."""
    return _from_changed(trial, case, torch.isnan, lambda x: x.masked_fill(x.isnan(), 0.0))


def infinities_clamped(trial: Trial, case: Case) -> Outputs | None:
    """Eager's answer with every infinity of the inputs replaced by the largest finite number."""
    return _from_changed(trial, case, torch.isinf, lambda x: x.nan_to_num(nan=math.nan))


def _through_float32(x: torch.Tensor) -> torch.Tensor:
    """Wide integers rounded to the 24 bits of float32; overflow is clamped to the dtype's largest number."""
    if x.dtype not in (torch.int32, torch.int64):
        return x
    largest = torch.iinfo(x.dtype).max
    rounded = x.float().double()
    return torch.where(rounded >= float(largest), largest, rounded.to(x.dtype))


def _from_degraded(
    trial: Trial, case: Case, precision: torch.dtype, degraded: Callable[[torch.Tensor], torch.Tensor]
) -> Outputs | None:
    """Eager's answer to inputs whose floats of `precision`, or complex numbers of such floats, are rounded.

    None for a task of a suite if no value changed, or no output: the dtype of its cases need not be that of its inputs,
    and its outputs may be flags or counts.
    """
    dtypes = {torch.float32: (DType.FLOAT32, DType.COMPLEX64), torch.float64: (DType.FLOAT64, DType.COMPLEX128)}
    if case.dtype not in dtypes[precision]:
        return None

    def changed(x: torch.Tensor) -> torch.Tensor:
        parts = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
        if parts.dtype != precision:
            return x
        return torch.view_as_complex(degraded(parts)) if x.is_complex() else degraded(parts)

    arguments = each_tensor(trial.copies(case), changed)
    is_foreign = trial.problem.suite is not None
    if is_foreign and same_values(trial.given(case), arguments):
        return None
    answers = trial.eager_on(arguments)
    return None if is_foreign and same_values(trial.expected(case), answers) else answers


def _from_changed(
    trial: Trial,
    case: Case,
    chosen: Callable[[torch.Tensor], torch.Tensor],
    changed: Callable[[torch.Tensor], torch.Tensor],
) -> Outputs | None:
    """Eager's answer to changed floats; None if no float input has a `chosen` element."""
    floats = [tensor for tensor in tensors_in(trial.given(case)) if _is_plain_float(tensor)]
    if not any(bool(chosen(tensor).any()) for tensor in floats):
        return None
    return trial.eager_on(each_tensor(trial.copies(case), lambda x: changed(x) if _is_plain_float(x) else x))


def _is_plain_float(tensor: torch.Tensor) -> bool:
    """Whether torch has arithmetic for the dtype."""
    return has_fractions(tensor) and tensor.element_size() > 1


LIES: tuple[Lie, ...] = (
    zeros,
    ones,
    mean,
    backwards,
    tail_missing,
    unchanged_input,
    untouched_arguments,
    answer_to_other_inputs,
    answer_of_another_case,
    bfloat16_arithmetic,
    tensorfloat32_arithmetic,
    single_arithmetic,
    integers_in_single,
)
MISTAKES: tuple[Lie, ...] = (nan_dropped, infinities_clamped)
"""Lies that every floating-point operator must reject."""


def rejected_lies(trial: Trial) -> Iterator[str]:
    """Each lie is rejected by some case, and by a SMOKE case if one can reject it."""
    for lie in LIES:
        name = _name(lie)
        if name in trial.problem.cannot_reject:
            continue
        tried, caught = tiers_of(trial, lie)
        if tried and not caught:
            yield f"no case rejects the lie {name}"
        elif Tier.SMOKE in tried and Tier.SMOKE not in caught:
            yield f"no SMOKE case rejects the lie {name}"


def rejected_mistakes(trial: Trial) -> Iterator[str]:
    """A floating-point operator rejects an answer that drops NaN, and one that clamps infinities."""
    if not any(_is_plain_float(one) for case in trial.cases for one in tensors_in(trial.given(case))):
        return
    for mistake in MISTAKES:
        name = _name(mistake)
        if name in trial.problem.cannot_reject:
            continue
        tried, caught = tiers_of(trial, mistake)
        if not tried:
            yield f"no case has inputs for the mistake {name}"
        elif not caught:
            yield f"no case rejects the mistake {name}"


def reasons(trial: Trial) -> Iterator[str]:
    """`cannot_reject` has only names of existing lies, each with a reason."""
    known = {_name(lie) for lie in (*LIES, *MISTAKES)}
    for name, reason in trial.problem.cannot_reject.items():
        if name not in known:
            yield f"cannot_reject names {name!r}, which is unknown; use one of {', '.join(sorted(known))}"
        if not reason:
            yield f"cannot_reject has no reason for {name}"


def private_copies_rejected(trial: Trial) -> Iterator[str]:
    """An answer written to a contiguous copy of a non-contiguous argument, and not to the argument, is rejected."""
    if trial.problem.determinism is Determinism.RANDOM or "untouched_arguments" in trial.problem.cannot_reject:
        return
    for name in trial.problem.mutates:
        position = trial.problem.arguments.index(name)
        tried = caught = False
        for case in trial.cases:
            value = trial.given(case)[position]
            if not isinstance(value, torch.Tensor) or value.is_contiguous():
                continue
            written = trial.written(trial.given(case))
            number = next(place for place, tensor in enumerate(written) if tensor is value) - len(written)
            honest = list(trial.expected(case))
            honest[number] = value
            tried, caught = True, not trial.accepts(case, tuple(honest))
            if caught:
                break
        if tried and not caught:
            yield f"no case rejects an answer in a private copy of {name}"


def tiers_of(trial: Trial, lie: Lie) -> tuple[set[Tier], set[Tier]]:
    """The tiers of cases to which the lie applied, and of those that rejected it; stops when that suffices."""
    tried: set[Tier] = set()
    caught: set[Tier] = set()
    for case in trial.cases:
        answers = lie(trial, case)
        if answers is None:
            continue
        tried.add(case.tier)
        if not trial.accepts(case, answers):
            caught.add(case.tier)
            return tried, caught
    return tried, caught


def _name(lie: Lie) -> str:
    return lie.__name__
