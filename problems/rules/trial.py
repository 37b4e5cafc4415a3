"""One problem under test: its inputs, expected outputs and correct answers, each computed once for all rules.

Answers are compared by the rule of `engine.model.Tolerance`, implemented a second time on purpose: an error in the
judge's comparer must not hide an error in a tolerance.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.onednn import without_onednn
from engine.model import CalledCase, Case, ProblemDefinition, Tier
from engine.problem_source import ProblemDescription
from problems.kit import torch
from problems.rules.values import as_tuple, form_of, same_values, tensors_in, widened

if TYPE_CHECKING:
    from engine.model import Arguments, Tolerance
    from problems.rules.values import Outputs

SEED, OTHER_SEED = 11, 23
QUICK_TIERS = (Tier.SMOKE, Tier.FULL)


class Trial:
    """A problem, its description, and cached results of its functions; delete it after the last rule."""

    def __init__(self, problem: ProblemDefinition, described: ProblemDescription) -> None:
        self.problem, self.described = problem, described
        self._given: dict[tuple[str, int], Arguments] = {}
        self._expected: dict[tuple[str, int], Outputs] = {}
        self._answers: dict[str, Outputs] = {}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases of the fast tiers, SMOKE first."""
        quick = [case for case in self.problem.cases if case.tier in QUICK_TIERS]
        return tuple(sorted(quick, key=lambda case: QUICK_TIERS.index(case.tier)))

    def made(self, case: Case, seed: int = SEED) -> Arguments:
        """New arguments of this seed."""
        return tuple(self.problem.make_inputs(case, torch.Generator().manual_seed(seed)))

    def given(self, case: Case, seed: int = SEED) -> Arguments:
        """The arguments of this seed, for reading only."""
        key = case.name, seed
        if key not in self._given:
            self._given[key] = self.made(case, seed)
        return self._given[key]

    def copies(self, case: Case, seed: int = SEED) -> Arguments:
        """Copies of the arguments of this seed, which may be written."""
        return private_copies(self.given(case, seed))

    def expected(self, case: Case, seed: int = SEED) -> Outputs:
        """Outputs of the reference for the arguments of this seed."""
        key = case.name, seed
        if key not in self._expected:
            self._expected[key] = as_tuple(self.problem.reference(*self.copies(case, seed)))
        return self._expected[key]

    def answers(self, case: Case) -> Outputs:
        """Outputs of eager for the arguments."""
        if case.name not in self._answers:
            self.answers_on(case, self.copies(case))
        return self._answers[case.name]

    def answers_on(self, case: Case, arguments: Arguments) -> Outputs:
        """The same for these copies of the arguments, cached as the answers of the case."""
        self._answers[case.name] = self.eager_on(arguments)
        return self._answers[case.name]

    def eager_on(self, arguments: Arguments) -> Outputs:
        """Returned values of eager for these arguments, then the content of the arguments that it writes."""
        with without_onednn():
            returned = as_tuple(self.problem.eager(*arguments))
        count = self.problem.returns
        if count is not None and len(returned) != count:
            raise ValueError(f"eager returns {len(returned)} tensors, the problem declares {count}")
        return (*returned, *self.written(arguments))

    def written(self, arguments: Arguments) -> list[torch.Tensor]:
        """The tensors among these arguments that are written in place."""
        by_name = dict(zip(self.problem.arguments, arguments, strict=True))
        return tensors_in(by_name[name] for name in self.problem.mutates)

    def accepts(self, case: Case, got: Outputs) -> bool:
        """Whether these outputs are right.

        Raises:
            ValueError: they have other shapes or dtypes than the expected ones.
        """
        wanted = self.expected(case)
        if form_of(got) != form_of(wanted):
            raise ValueError(f"{case.name}: outputs are {form_of(got)}, the reference has {form_of(wanted)}")
        if self.problem.compare is not None:
            called = CalledCase(case=case, arguments=self.given(case), outputs=got, expected=wanted)
            return not any(bool(match.wrong.any()) for match in self.problem.compare(called))
        tolerance = self.problem.tolerance(case)
        return all(within(tolerance, *pair) for pair in zip(got, wanted, strict=True))


def within(tolerance: Tolerance, got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Whether every element of one output is right; both tensors have one shape and dtype."""
    if tolerance.signed_zeros and not same_zeros(got, wanted):
        return False
    if not has_tolerance(tolerance, wanted):
        return same_values(got, wanted)
    got, wanted = widened(got), widened(wanted)
    finite = wanted.isfinite()
    if not same_values(got[~finite], wanted[~finite]):
        return False
    return bool(((got[finite] - wanted[finite]).abs() <= allowed(tolerance, wanted[finite])).all())


def same_zeros(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Whether each zero has the sign of the wanted zero, in both parts of complex numbers."""
    if wanted.is_complex():
        return all(same_zeros(*pair) for pair in ((got.real, wanted.real), (got.imag, wanted.imag)))
    if not wanted.dtype.is_floating_point:
        return True
    got, wanted = widened(got), widened(wanted)
    both = (got == 0) & (wanted == 0)
    return bool((got.signbit() == wanted.signbit())[both].all())


def has_tolerance(tolerance: Tolerance, wanted: torch.Tensor) -> bool:
    """Whether the comparison has a tolerance: integers and booleans must be equal."""
    return wanted.dtype.is_floating_point or wanted.dtype.is_complex


def allowed(tolerance: Tolerance, wanted: torch.Tensor) -> torch.Tensor:
    """Permitted error of each element, for these finite values, in float64."""
    scale = wanted.abs().square().mean().sqrt().nan_to_num().clamp(min=tolerance.least_scale)
    return tolerance.relative * wanted.abs() + tolerance.absolute * scale
