"""The tolerance of a foreign problem, measured on its reference, because the suites state no reliable one.

The error of the reference in its own precision is measured against its run in float64; without such a run, it is the
larger of the difference between two runs and the error of a run in lower precision, scaled by the rounding steps. A
correct kernel may sum in another order, so MARGIN times that error is allowed, and at least a few rounding steps, but
never so much that an answer of lower precision passes, if that can be distinguished. The last rounding of a 16-bit
output is the same for every order, so its half step is not multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import UnsupportedError
from engine.model import Tolerance

if TYPE_CHECKING:
    import torch

MARGIN = 16.0
_LEAST_STEPS, _LOWER_SHARE = 4.0, 0.25
# Half a step for each of three roundings: two in a correct kernel and one in the expected output.
_LEAST_STEPS_IN_16_BITS, _EPSILON_IN_16_BITS = 1.5, 2.0**-10
# Relative to a typical output: sums in another order differ by far less; rounding to 16 bits gives 4e-3.
_RANDOM, _RANDOM_IN_16_BITS = 1e-4, 1e-2
_LOWER_EPSILON = 2.0**-7  # bfloat16


class RandomReferenceError(UnsupportedError):
    """Two runs on the same input differ by more than rounding."""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The outputs of one draw: twice in the task's own precision, in float64 and in lower precision if available."""

    own: Sequence[torch.Tensor]
    again: Sequence[torch.Tensor]
    double: Sequence[torch.Tensor] | None
    lower: Sequence[torch.Tensor] | None


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A tolerance, and a sentence on how it was measured."""

    tolerance: Tolerance
    sentence: str


def calibrated(runs: Runs) -> Calibrated:
    """The tolerance for the outputs of a problem: the widest one that any output needs.

    Raises:
        RandomReferenceError: two runs on the same input differ by more than rounding.
    """
    epsilon = max((_epsilon(output) for output in runs.own), default=0.0)
    if epsilon == 0.0:
        return Calibrated(tolerance=Tolerance(relative=0.0, absolute=0.0), sentence="outputs are compared exactly")
    spread = distance(runs.again, runs.own)
    if spread > (_RANDOM if epsilon < _EPSILON_IN_16_BITS else _RANDOM_IN_16_BITS):
        raise RandomReferenceError(
            f"the reference is random: two runs on the same input differ by {spread:.1e} of a typical output, so "
            "no comparison can recognise a correct answer"
        )
    truth = runs.double if runs.double is not None else runs.own
    lower = distance(runs.lower, truth) if runs.lower is not None else None
    if runs.double is not None:
        noise, how = max(distance(runs.own, truth), spread), "its error against float64"
    else:
        scaled = (lower or 0.0) * epsilon / _LOWER_EPSILON
        noise, how = max(spread, scaled), "the spread of repeated and lower-precision runs, no float64 run"
    bound = _bound(noise, epsilon)
    if lower is not None and lower * _LOWER_SHARE > 2 * noise:
        bound = min(bound, lower * _LOWER_SHARE)
    sentence = f"tolerance {bound:.1e} relative and of rms, calibrated: reference {noise:.1e} by {how}"
    if lower is not None:
        sentence += f", bfloat16 {lower:.1e}"
    return Calibrated(tolerance=Tolerance(relative=bound, absolute=bound), sentence=sentence)


def _bound(noise: float, epsilon: float) -> float:
    """Permitted error of a correct answer, before the limit by lower precision is applied."""
    if epsilon < _EPSILON_IN_16_BITS:
        return max(MARGIN * noise, _LEAST_STEPS * epsilon)
    return max(MARGIN * max(0.0, noise - epsilon / 2), _LEAST_STEPS_IN_16_BITS * epsilon)


def distance(got: Sequence[torch.Tensor], truth: Sequence[torch.Tensor]) -> float:
    """The largest error of any element, in units of the element's size plus the root mean square of its output."""
    return max((_distance(one, other) for one, other in zip(got, truth, strict=True)), default=0.0)


def _distance(got: torch.Tensor, truth: torch.Tensor) -> float:
    if not (truth.is_floating_point() or truth.is_complex()) or not truth.numel():
        return 0.0
    from engine.judge.compare.pieces import pieces

    if truth.is_complex():
        import torch

        got, truth = torch.view_as_real(got.resolve_conj()), torch.view_as_real(truth.resolve_conj())
    squares, count = 0.0, 0
    for one, other in _wide(pieces(got, truth)):
        finite = one.isfinite() & other.isfinite()
        squares += float(other.masked_fill(~finite, 0.0).square().sum())
        count += int(finite.sum())
    if not count:
        return 0.0
    typical = math.sqrt(squares / count)
    return max(_largest(one, other, typical) for one, other in _wide(pieces(got, truth)))


def _wide(pairs: Iterable[tuple[torch.Tensor, ...]]) -> Iterator[tuple[torch.Tensor, ...]]:
    return (tuple(value.double() for value in pair) for pair in pairs)


def _largest(got: torch.Tensor, truth: torch.Tensor, typical: float) -> float:
    """The largest error among elements finite in both, in units of an element's size plus the typical one."""
    error = (got - truth).abs() / (truth.abs() + typical).clamp(min=1e-300)
    return float(error.masked_fill(~(got.isfinite() & truth.isfinite()), 0.0).max())


def _epsilon(output: torch.Tensor) -> float:
    import torch

    return float(torch.finfo(output.dtype).eps) if output.is_floating_point() or output.is_complex() else 0.0
