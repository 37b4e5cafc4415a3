"""One wrong output, and how well a hypothetical mistake predicts it.

A guess is a whole output that some mistake would produce.  It is compared with the actual output by the rule that
decides right and wrong, so that "fits" means the same as "right" does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch

from engine.judge.compare.compare import compare_elements
from engine.judge.compare.measures import computable, equal_or_nan, other_zero, raw, typical
from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import Tolerance

BLOCKS = tuple(1 << power for power in range(14, 3, -1))
"""Numbers of elements that a program may process at once, the largest first."""
FEWEST = 4
"""Fewest wrong elements from which a rule that they follow is concluded."""
_SLACK = 2.0  # times the tolerance: the prediction is rounded too
_GUESSES, _MOST_CHANCE = 64, 0.1  # predictions per output, and the expected number of chance fits that is accepted


@dataclass(frozen=True, kw_only=True)
class WrongOutput:
    """Computed and expected values of one output, of one shape and type.

    `before` is the content before the call of an argument that is written in place; `earlier` the content of this
    output after the previous call, and `same_input` whether that had the same input.  `stored_dtype` is the type of
    the output before conversion to one that torch computes with.
    """

    name: str
    got: torch.Tensor
    expected: torch.Tensor
    tolerance: Tolerance
    poison: int
    before: torch.Tensor | None = None
    earlier: torch.Tensor | None = None
    same_input: bool = False
    stored_dtype: torch.dtype | None = None

    @property
    def on_host(self) -> WrongOutput:
        """The same with all tensors in host memory, in types that torch computes with."""
        before = computable(self.before.cpu()) if self.before is not None else None
        earlier = computable(self.earlier.cpu()) if self.earlier is not None else None
        got, expected = computable(self.got.cpu()), computable(self.expected.cpu())
        return replace(self, got=got, expected=expected, before=before, earlier=earlier, stored_dtype=self.dtype)

    @property
    def is_exact(self) -> bool:
        """Whether values are compared bit for bit: integers and booleans."""
        return not (self.got.dtype.is_floating_point or self.got.is_complex())

    @property
    def dtype(self) -> torch.dtype:
        """The type of the output, which may be narrower than the one that is computed with."""
        return self.stored_dtype or self.got.dtype

    @cached_property
    def got64(self) -> torch.Tensor:
        """Computed values in double precision."""
        return self.got.to(self._wide)

    @cached_property
    def expected64(self) -> torch.Tensor:
        """Expected values in double precision."""
        return self.expected.to(self._wide)

    @cached_property
    def wrong(self) -> torch.Tensor:
        """Which elements are wrong."""
        return compare_elements(self.got, self.expected, self.tolerance).wrong

    @cached_property
    def wrong_count(self) -> int:
        """How many elements are wrong."""
        return int(self.wrong.sum())

    @cached_property
    def scale(self) -> torch.Tensor:
        """The typical size of the expected values, as the tolerance defines it."""
        return _typical_size(self.expected64).clamp(min=self.tolerance.least_scale)

    def agrees(self, guess: torch.Tensor) -> torch.Tensor:
        """Which computed elements equal those of `guess`, a tensor of the same shape."""
        if self.is_exact:
            return raw(self.got) == raw(guess.to(self.got.dtype))
        guess64 = guess.to(self._wide)
        # Also scaled by the prediction: small predicted values must not fit only because the expected ones are large.
        size = torch.minimum(self.scale, _typical_size(guess64))
        allowed = self.tolerance.relative * guess64.abs() + self.tolerance.absolute * size
        near = (self.got64 - guess64).abs() <= _SLACK * allowed.nan_to_num(nan=0.0, posinf=0.0)
        close = near | equal_or_nan(self.got64, guess64)
        return close & ~other_zero(self.got64, guess64) if self.tolerance.signed_zeros else close

    def clue(self, symptom: Symptom, guess: torch.Tensor, **facts: str | int | float) -> Clue:
        """How well `guess` predicts this output; not at all if chance or a plain 0 would predict it as well."""
        fits = self.agrees(guess)
        # Overflow produces nan, inf and 0; for other symptoms a predicted nan is weak evidence, since many mistakes
        # cause it.
        may_be_plain = self.is_exact or symptom is Symptom.OVERFLOWN
        if not self.is_exact:
            hardly_wrong = (self.got64 - guess.to(self._wide)).abs() > 0.5 * (self.got64 - self.expected64).abs()
            fits = fits & ~(self.wrong & hardly_wrong)
            if not may_be_plain:
                fits = fits & (guess.isfinite() | ~self.wrong)
        hit = self.wrong & fits
        hits = int(hit.sum())
        is_plain = not may_be_plain and (self._plain_hits >= hits or not bool((hit & (guess != 0)).any()))
        if is_plain or not self._is_significant(hits):
            return Clue(symptom=symptom, explained=0)
        explained, contradicted = hits, int((~self.wrong & ~fits).sum())
        return Clue(symptom=symptom, explained=explained, contradicted=contradicted, facts=facts)

    def marked(self, symptom: Symptom, marks: torch.Tensor, **facts: str | int | float) -> Clue:
        """A clue of these elements, which no right element contradicts."""
        return Clue(symptom=symptom, explained=int((self.wrong & marks).sum()), facts=facts)

    def region(self, symptom: Symptom, marks: torch.Tensor, **facts: str | int | float) -> Clue:
        """A clue by which all of these elements must be wrong: right ones contradict it."""
        explained, contradicted = (self.wrong & marks).sum(), (~self.wrong & marks).sum()
        return Clue(symptom=symptom, explained=int(explained), contradicted=int(contradicted), facts=facts)

    @cached_property
    def _plain_hits(self) -> int:
        """Number of wrong elements that are so small that 0 predicts them."""
        near = self.got64.abs() <= 0.5 * (self.got64 - self.expected64).abs()
        return int((self.wrong & near & self.agrees(torch.zeros_like(self.expected))).sum())

    def _is_significant(self, hits: int) -> bool:
        """Whether a wrong guess would seldom predict this many elements."""
        return _GUESSES * self._chance**hits < _MOST_CHANCE

    @cached_property
    def _chance(self) -> float:
        """Probability that a wrong guess is right for one wrong element."""
        if self.is_exact:
            return 1 / max(2, len(torch.unique(self.expected)))
        error = (self.got64 - self.expected64).abs()
        allowed = self.tolerance.relative * self.expected64.abs() + self.tolerance.absolute * self.scale
        usable = self.wrong & error.isfinite()
        if not bool(usable.any()):
            return 0.5
        return min(1.0, float((2 * _SLACK * allowed / error)[usable].median()))

    @property
    def _wide(self) -> torch.dtype:
        return torch.complex128 if self.got.is_complex() else torch.float64


def _typical_size(values: torch.Tensor) -> torch.Tensor:
    """Root mean square of the finite elements."""
    return typical(values.abs().nan_to_num(nan=0.0, posinf=0.0), values.isfinite().sum().clamp(min=1))
