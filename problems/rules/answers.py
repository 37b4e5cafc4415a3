"""Rules on the reference, on eager and on the cost.  Each rule yields a sentence for every violation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from engine.model import Case, Determinism, DType, Tier
from problems.kit import torch
from problems.rules.trial import Trial, allowed
from problems.rules.values import (
    as_tuple,
    bytes_of,
    each_tensor,
    has_fractions,
    same_values,
    tensors_in,
    truncated_to,
    widened,
)

LEAST_MARGIN = 3.0
_DRAWS = 32
_MOST_EXCESS = 1.5  # permitted factor on the mean square of this many draws of one element


def repeatable_reference(trial: Trial) -> Iterator[str]:
    """The reference does not change its arguments, and returns the same result when called again."""
    for case in trial.cases:
        arguments = trial.copies(case)
        again = as_tuple(trial.problem.reference(*arguments))
        if not same_values(arguments, trial.given(case)):
            yield f"{case.name}: the reference changes its arguments"
        if trial.problem.determinism is not Determinism.RANDOM and not same_values(again, trial.expected(case)):
            yield f"{case.name}: the reference gives different answers for the same arguments"


def honest_eager(trial: Trial) -> Iterator[str]:
    """Eager follows the contract of the entry, is right in every case, and changes only written arguments."""
    for case in trial.cases:
        arguments = trial.copies(case)
        if not trial.accepts(case, trial.answers_on(case, arguments)):
            yield f"{case.name}: eager is wrong"
        pairs = zip(trial.problem.arguments, arguments, trial.given(case), strict=True)
        for name, after, before in pairs:
            if name not in trial.problem.mutates and not same_values(after, before):
                yield f"{case.name}: eager changes {name}, which mutates does not name"


def margin(trial: Trial) -> Iterator[str]:
    """The error of eager, a correct answer in the dtype of the inputs, is well within the tolerance."""
    if trial.problem.compare is not None or not trial.problem.determinism.has_one_answer:
        return
    least = least_margin(trial)
    if least is not None and least[0] < LEAST_MARGIN:
        yield f"{least[1]}: eager takes 1 / {least[0]:.2g} of the tolerance; it should be 1 / {LEAST_MARGIN:g} at most"


def least_margin(trial: Trial) -> tuple[float, str] | None:
    """The smallest ratio of tolerance to error of eager over all cases, and the name of that case."""
    found: list[tuple[float, str]] = []
    for case in trial.cases:
        tolerance = trial.problem.tolerance(case)
        for got, wanted in zip(trial.answers(case), trial.expected(case), strict=True):
            finite = wanted.isfinite() if has_fractions(wanted) else None
            if finite is None or not bool(finite.any()):
                continue
            exact = widened(wanted)[finite]
            error = (widened(got)[finite] - exact).abs()
            limit = allowed(tolerance, exact)
            share = (error / limit)[error > 0]
            if share.numel():
                found.append((1 / float(share.max()), case.name))
    return min(found, default=None)


def least_scale(trial: Trial) -> Iterator[str]:
    """The least scale of a tolerance does not exceed the root mean square of such outputs over many draws."""
    for case in trial.cases:
        least = trial.problem.tolerance(case).least_scale
        usual = max(_scales_over_draws(trial, case), default=math.inf) if least else math.inf
        if least > _MOST_EXCESS * usual:
            yield f"{case.name}: the least scale is {least:.2g}, but outputs have a root mean square of {usual:.2g}"


def _scales_over_draws(trial: Trial, case: Case) -> Iterator[float]:
    """The root mean square of the finite values of each output over many draws, if it has any."""
    drawn = [as_tuple(trial.problem.reference(*trial.made(case, seed))) for seed in range(_DRAWS)]
    for outputs in zip(*drawn, strict=True):
        values = torch.cat([widened(output).flatten() for output in outputs])
        finite = values[values.isfinite()]
        if finite.numel():
            yield float(finite.abs().square().mean().sqrt())


def written_only_content(trial: Trial) -> Iterator[str]:
    """The initial content of write-only arguments does not influence the result."""
    if not trial.problem.written_only:
        return
    for case in trial.cases:
        arguments = trial.copies(case)
        by_name = dict(zip(trial.problem.arguments, arguments, strict=True))
        for tensor in tensors_in(by_name[name] for name in trial.problem.written_only):
            _spoil(tensor)
        wanted = as_tuple(trial.problem.reference(*arguments))
        if trial.problem.determinism is not Determinism.RANDOM and not same_values(wanted, trial.expected(case)):
            yield f"{case.name}: the reference reads the previous content of {', '.join(trial.problem.written_only)}"
        if not trial.accepts(case, trial.eager_on(arguments)):
            yield f"{case.name}: eager reads the previous content of {', '.join(trial.problem.written_only)}"


def _spoil(tensor: torch.Tensor) -> None:
    tensor.fill_(math.nan if has_fractions(tensor) else True if tensor.dtype == torch.bool else 77)


def truncation(trial: Trial) -> Iterator[str]:
    """An answer computed in float32 and truncated to the output dtype is right, since interpreters truncate."""
    if trial.problem.compare is not None:
        return
    for case in trial.cases:
        if case.dtype not in (DType.FLOAT16, DType.BFLOAT16):
            continue
        wanted = trial.expected(case)
        arguments = each_tensor(trial.copies(case), lambda x: x.float() if x.is_floating_point() else x)
        answers = trial.eager_on(arguments)
        if not trial.accepts(case, tuple(map(truncated_to, answers, wanted))):
            yield f"{case.name}: eager in float32, truncated to {case.dtype}, is wrong"


def cost(trial: Trial) -> Iterator[str]:
    """The cost is at most the size of all arguments and outputs, and positive at realistic shapes."""
    problem = trial.problem
    for case in trial.cases:
        least = problem.cost(case)
        if least.bytes_read > bytes_of(trial.given(case)):
            yield f"{case.name}: cost reads {least.bytes_read} bytes, the arguments have {bytes_of(trial.given(case))}"
        if least.bytes_written > bytes_of(trial.expected(case)):
            yield f"{case.name}: cost writes {least.bytes_written} bytes, outputs have {bytes_of(trial.expected(case))}"
    given = zip(problem.arguments, trial.given(problem.cases[0]), strict=True)
    reads = any(tensors_in((value,)) for name, value in given if name not in problem.mutates)
    is_free = bool(problem.framework)
    for case in problem.cases:
        if case.tier is Tier.FULL or is_free:
            continue
        least = problem.cost(case)
        if not least.bytes_written or (reads and not least.bytes_read):
            yield f"{case.name}: cost reads {least.bytes_read} and writes {least.bytes_written} bytes; give 1 or more"
