"""A second implementation of an operator, and how a reference is compared with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.model import Case, ProblemDefinition, Tier
from problems.rules.trial import Trial
from problems.rules.values import as_tuple, same_values

Differences: TypeAlias = Callable[[Trial], list[str]]


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """`source` as `second_oracle` of the problem states it; `differences` names the cases in which it disagrees."""

    source: str
    differences: Differences


def by_function(source: str, function: Callable[..., Any], *, prefix: str = "") -> Oracle:
    """An implementation on NumPy arrays, compared in the SMOKE cases within the tolerance of the problem.

    It takes the arguments in order, floats in double precision, and returns the returned values and then what the
    operator writes.  `prefix` names the cases that it is for; without one these are all SMOKE cases.
    """

    def differences(trial: Trial) -> list[str]:
        cases = [case for case in trial.cases if case.tier is Tier.SMOKE and case.name.startswith(prefix)]
        assert cases
        return [case.name for case in cases if not _agrees(trial, case, function)]

    return Oracle(source=source, differences=differences)


def _agrees(trial: Trial, case: Case, function: Callable[..., Any]) -> bool:
    wanted = trial.expected(case)
    answers = function(*map(as_array, trial.copies(case)))
    answers = tuple(answers) if isinstance(answers, list | tuple) else (answers,)
    assert len(answers) == len(wanted)
    return trial.accepts(case, tuple(map(_like, answers, wanted)))


def _like(answer: Any, wanted: torch.Tensor) -> torch.Tensor:
    """The answer in the dtype of `wanted`, rounded once."""
    return torch.from_numpy(np.array(answer)).to(wanted.dtype)


def as_array(value: Any) -> Any:
    """A tensor as an array, floats in double precision; sequences of them likewise; all else as it is."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], torch.Tensor):
        return [as_array(one) for one in value]
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.resolve_conj().resolve_neg()
    if plain.is_complex():
        return plain.to(torch.complex128).numpy()
    return (plain.double() if plain.is_floating_point() else plain).clone().numpy()


def by_vectors(source: str, *vectors: tuple[tuple[Any, ...], tuple[Any, ...]]) -> Oracle:
    """Arguments with answers that were worked out by hand, compared to the bit."""

    def differences(trial: Trial) -> list[str]:
        found = [as_tuple(trial.problem.reference(*arguments)) for arguments, _ in vectors]
        pairs = enumerate(zip(found, vectors, strict=True))
        return [f"vector {number}" for number, (got, (_, wanted)) in pairs if not same_values(got, wanted)]

    return Oracle(source=source, differences=differences)


class _Recorder(TorchDispatchMode):
    """The names of the ATen operators that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def by_own_operator(name: str, *, operators: tuple[str, ...]) -> Oracle:
    """PyTorch's operator, which eager calls and the reference does not; compared in the SMOKE cases.

    One of `operators` is called by eager in each of them and by the reference in none: an operator with several ways,
    such as linear, calls another for each.  In the FULL cases the rule honest_eager compares the two.
    """

    def differences(trial: Trial) -> list[str]:
        smoke = [case for case in trial.cases if case.tier is Tier.SMOKE]
        return [case.name for case in smoke if not _is_second(trial, case, operators)]

    return Oracle(source=f"PyTorch's {name}, in every smoke and full case", differences=differences)


def _is_second(trial: Trial, case: Case, operators: tuple[str, ...]) -> bool:
    problem: ProblemDefinition = trial.problem
    given, to_be_written = trial.copies(case), trial.copies(case)
    with _Recorder() as reference:
        problem.reference(*given)
    with _Recorder() as eager:
        answers = trial.eager_on(to_be_written)
    is_second = bool(eager.names & set(operators)) and not reference.names & set(operators)
    return is_second and trial.accepts(case, answers)
