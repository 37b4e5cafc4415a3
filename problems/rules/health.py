"""The health of a problem: wrong answers that its reference, inputs and tolerance accept.

Unlike the rules of the catalogue, it applies to problems of other authors: it requires no tiers, names or docstrings,
and checks only whether a candidate that passes must have computed anything. A lie in the problem's `cannot_reject` is
not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Determinism, ProblemDefinition
from engine.model.problems.health import Defect, Weakness
from engine.problem_source import ProblemDescription
from problems.kit import torch
from problems.rules import lies
from problems.rules.answers import honest_eager, repeatable_reference
from problems.rules.trial import OTHER_SEED, Trial
from problems.rules.values import same_values, tensors_in

_PASSES: tuple[tuple[lies.Lie, Defect, str], ...] = (
    (lies.zeros, Defect.ZEROS_PASS, "zeros pass in every case"),
    (lies.answer_to_other_inputs, Defect.INPUT_INDEPENDENT, "the answer for other inputs passes in every case"),
    (lies.mean, Defect.SMALL_SPREAD, "the mean of the outputs passes in every case: their spread is in the tolerance"),
    (lies.bfloat16_arithmetic, Defect.LOOSE, "inputs rounded to bfloat16 pass in every float32 case"),
    (lies.single_arithmetic, Defect.LOOSE, "inputs rounded to float32 pass in every float64 case"),
)


def weaknesses(problem: ProblemDefinition, described: ProblemDescription) -> tuple[Weakness, ...]:
    """Every defect of a problem; only the failure if its reference fails on its own inputs."""
    trial = Trial(problem, described)
    failures = tuple(_failures(trial))
    return failures or (*_unseeded(trial), *_outputs(trial), *_lies(trial), *_unreachable(trial))


def foreign_weaknesses(trial: Trial) -> tuple[Weakness, ...]:
    """The same for a problem whose reference runs in a separate process, where its errors are raised."""
    return (*_unseeded_inputs(trial), *_outputs(trial), *_lies(trial), *_unreachable(trial))


def _failures(trial: Trial) -> Iterator[Weakness]:
    for case in trial.cases:
        try:
            trial.expected(case)
        except Exception as error:  # boundary to a problem's own code, which may raise any exception
            text = f"{case.name}: the reference raised {type(error).__name__}: {error}"
            yield Weakness(defect=Defect.REFERENCE_FAILS, text=text)
            return


def _unseeded(trial: Trial) -> Iterator[Weakness]:
    """A weakness if the reference or the inputs depend on anything but arguments and seed."""
    for sentence in repeatable_reference(trial):
        yield Weakness(defect=Defect.UNSEEDED, text=sentence)
        break
    yield from _unseeded_inputs(trial)


def _unseeded_inputs(trial: Trial) -> Iterator[Weakness]:
    for case in trial.cases:
        if not same_values(trial.given(case), trial.made(case)):
            yield Weakness(defect=Defect.UNSEEDED, text=f"{case.name}: the same seed gives different inputs")
            break


def _outputs(trial: Trial) -> Iterator[Weakness]:
    """A weakness if an output is a single repeated number in every case, for two sets of inputs."""
    excused = {"zeros", "ones", "mean", "answer_to_other_inputs"} & set(trial.problem.cannot_reject)
    outputs = [
        output
        for case in trial.cases
        for seed in (trial.expected(case), trial.expected(case, OTHER_SEED))
        for output in tensors_in(seed)
        if output.numel() > 1
    ]
    if excused or not outputs:
        return
    if not any(bool((output != 0).any()) for output in outputs):
        yield Weakness(defect=Defect.ALL_ZERO, text="every output is zero in every case")
    elif all(same_values(output, _filled(output)) for output in outputs):
        yield Weakness(defect=Defect.CONSTANT, text="the elements of each output are equal in every case")


def _filled(output: torch.Tensor) -> torch.Tensor:
    """A tensor of this form that repeats the first element."""
    return output.flatten()[:1].expand(output.numel()).reshape(output.shape).contiguous()


def _lies(trial: Trial) -> Iterator[Weakness]:
    """Wrong answers that no case rejects; operators with random answers are verified by their distribution instead."""
    if trial.problem.determinism is Determinism.RANDOM:
        return
    for lie, defect, text in _PASSES:
        if lie.__name__ in trial.problem.cannot_reject or (lie is lies.mean and _has_one_element(trial)):
            continue
        tried, caught = lies.tiers_of(trial, lie)
        if tried and not caught:
            yield Weakness(defect=defect, text=text)


def _has_one_element(trial: Trial) -> bool:
    """Whether every output has one element, which equals its own mean."""
    return all(output.numel() <= 1 for case in trial.cases for output in trial.expected(case))


def _unreachable(trial: Trial) -> Iterator[Weakness]:
    """A weakness if the answer of PyTorch in the dtype of the inputs is not accepted."""
    for sentence in honest_eager(trial):
        text = f"{sentence.removesuffix('eager is wrong')}the answer of PyTorch does not pass"
        yield Weakness(defect=Defect.UNREACHABLE, text=text if sentence.endswith("eager is wrong") else sentence)
        return
