"""Tests of random outputs that reject a right kernel less than once in a million runs.

Every test is a bound that holds for any number of elements, not an approximation for many: Bernstein's and Freedman's
inequality for sums of bounded terms, Chernoff's for counts, and that of Dvoretzky, Kiefer and Wolfowitz with Massart's
constant for the distribution (Ann. Probab. 18, 1990).  Each test may fail with probability `ALARM` if the output is
right.  A problem makes at most 32 tests of a call, those of a tensor that is written and returned counted once, and a
run makes at most some 60 calls of it, so that the false-alarm rate of a run is below 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.model import OutputMatch
from problems.kit.deferred import torch

ALARM = 5e-10
_LOG = math.log(2 / ALARM)
_LAGS = (1, 2, 32, 127, 255, 1023, 1024, 2048, 4096)
"""Lanes of a thread, a warp and a program, programs whose offsets are one apart, and blocks that share a stream."""
_LAGS_OF_CALLS = (0, 1, 256, 1024)
"""How much later in the stream of one call the next may begin by mistake."""
_EQUAL = 2.0**-20  # bound on the probability that two draws of 32 bits are equal
_LEAST_FOR_A_REPEAT = 64  # draws of at least one bit each that do not agree by chance

CANNOT_TELL = dict.fromkeys(
    ("answer_to_other_inputs", "answer_of_another_case", "bfloat16_arithmetic", "tensorfloat32_arithmetic",
     "single_arithmetic"),
    "the answer is random, and a draw for other inputs may be a draw for these",
)  # fmt: skip
"""Lies that a distribution may not show."""


def as_match(output: torch.Tensor, faults: Sequence[str], wrong: torch.Tensor | None = None) -> OutputMatch:
    """Result of a comparer: elements that no draw has are `wrong`; any other fault makes all of them so."""
    found = next(iter(faults), "")
    if wrong is not None and bool(wrong.any()):
        return OutputMatch(wrong=wrong, message="values that the distribution never takes")
    return OutputMatch(wrong=torch.full(output.shape, bool(found), device=output.device), message=found)


def sum_faults(
    terms: torch.Tensor, variances: torch.Tensor, bounds: float, what: str, *, shift: float = 0.0
) -> list[str]:
    """A sentence if a sum of independent terms of mean 0 is too far from 0 (Bernstein).

    float64 `terms`, their `variances`, and the largest size of any term; `shift` is how far rounding may move the sum.
    """
    total = abs(float(terms.sum())) - shift
    limit = _LOG * bounds / 3 + math.sqrt((_LOG * bounds / 3) ** 2 + 2 * _LOG * float(variances.sum()))
    if math.isnan(total) or total > limit:
        return [f"{what}: off by {total:.4g}, at most {limit:.4g} is expected of {terms.numel()} draws"]
    return []


def mean_faults(centred: torch.Tensor, variances: torch.Tensor, bounds: float, *, shift: float = 0.0) -> list[str]:
    """Sentences on the sum of centred draws, and on its parts: halves, even places, products at some distances.

    `centred` are draws less their means, flat, float64; `shift` is how far rounding may move any one of them.
    """
    size = centred.numel()
    half = size // 2
    faults = sum_faults(centred, variances, bounds, "mean", shift=shift * size)
    for name, part in (
        ("mean of the first half", slice(None, half)),
        ("mean of the second half", slice(half, None)),
        ("mean of the even places", slice(None, None, 2)),
    ):
        faults += sum_faults(centred[part], variances[part], bounds, name, shift=shift * size)
    for lag in (*_LAGS, half):
        if size > lag > 0:
            faults += sum_faults(
                centred[lag:] * centred[:-lag],
                variances[lag:] * variances[:-lag],
                bounds * bounds,
                f"draws are not independent of those {lag} places before",
                shift=2 * shift * bounds * size,
            )
    return faults


def neighbour_faults(draws: torch.Tensor) -> list[str]:
    """A sentence if too many neighbours are equal, as where a program begins with the last draw of another (Chernoff).

    `draws` are of a continuous distribution, flat, in the dtype of the output; nothing is said of 16 bits.
    """
    expected = draws.numel() * _EQUAL
    if draws.element_size() < 4 or expected == 0:
        return []
    equal = int((draws[1:] == draws[:-1]).sum())
    return _few(equal, expected, draws.numel(), "are equal to the one before")


def repeated_faults(draws: torch.Tensor) -> list[str]:
    """A sentence if too many draws have the value of an earlier one, as where random numbers have few bits.

    As `neighbour_faults`: flat draws of a continuous distribution in float32.  Whatever came before, draw number i
    repeats one of i values with a probability of at most i * 2 ** -20, so that Chernoff's bound holds for the sum.
    """
    count = draws.numel()
    expected = count * (count - 1) / 2 * _EQUAL
    if draws.element_size() < 4 or not 0 < expected < count / 4:
        return []
    return _few(count - torch.unique(draws).numel(), expected, count, "have the value of an earlier one")


def shared_faults(draws: torch.Tensor, earlier: torch.Tensor) -> list[str]:
    """A sentence if too many draws are among those of the `earlier` call, wherever they are; as `repeated_faults`."""
    count = draws.numel()
    expected = count * earlier.numel() * _EQUAL
    if draws.element_size() < 4 or not 0 < expected < count / 4:
        return []
    return _few(int(torch.isin(draws, earlier).sum()), expected, count, "are among those of the call before")


def _few(found: int, expected: float, count: int, what: str) -> list[str]:
    """A sentence if so many are found where independent events, `expected` on average, are fewer (Chernoff)."""
    limit = next(number for number in range(1, count + 64) if _rarely(number, expected))
    return [f"{found} draws {what}, fewer than {limit} are expected of {count}"] if found >= limit else []


def _rarely(count: int, expected: float) -> bool:
    """Whether so many of independent events, `expected` on average, come about less than once in 1 / ALARM times."""
    return count > expected and count * (math.log(count / expected) - 1) + expected >= _LOG


def repeat_faults(
    centred: torch.Tensor, earlier: torch.Tensor, variances: torch.Tensor, bounds: float, *, shift: float = 0.0
) -> list[str]:
    """Sentences on two calls with the same input: they must not be equal, nor depend on each other.

    Products are those of the same place, and of places of which the later call's draw comes later in the stream.
    """
    if int((variances > bounds / 64).sum()) < _LEAST_FOR_A_REPEAT:
        return []
    if bool((centred == earlier).all()):
        return ["two calls drew the same values; each call needs draws of its own"]
    shift = 2 * shift * bounds * centred.numel()
    faults = []
    for lag in (lag for lag in _LAGS_OF_CALLS if lag < centred.numel()):
        until, what = centred.numel() - lag, f"two calls are not independent at a distance of {lag}"
        products, scales = centred[:until] * earlier[lag:], variances[:until] * variances[lag:]
        faults += sum_faults(products, scales, bounds * bounds, what, shift=shift)
    return faults


def distribution_faults(below: torch.Tensor, what: str, *, shift: float = 0.0) -> list[str]:
    """A sentence if `below`, uniform between 0 and 1 for a right kernel, is too far from that (Massart).

    `below` is the distribution function at each draw; `shift` is how far rounding may move it.
    """
    ordered = below.flatten().sort().values
    size = ordered.numel()
    if size == 0:
        return []
    places = torch.arange(1, size + 1, device=below.device, dtype=torch.float64) / size
    apart = float(torch.maximum((places - ordered).abs(), (places - 1 / size - ordered).abs()).max())
    limit = math.sqrt(_LOG / (2 * size)) + shift
    if math.isnan(apart) or apart > limit:
        return [f"{what}: {apart:.4g} away from the distribution, at most {limit:.4g} is expected of {size} draws"]
    return []


def steps_faults(draws: torch.Tensor, at: torch.Tensor, just_below: torch.Tensor, what: str) -> list[str]:
    """As `distribution_faults` for whole-numbered draws of one distribution.

    `at` and `just_below` are the distribution function at each draw and at the next smaller whole number.
    """
    size = draws.numel()
    if size == 0:
        return []
    ordered, order = draws.sort()
    counts = torch.arange(1, size + 1, device=draws.device, dtype=torch.float64)
    is_last = torch.cat((ordered[1:] != ordered[:-1], torch.ones(1, dtype=torch.bool, device=draws.device)))
    is_first = torch.cat((torch.ones(1, dtype=torch.bool, device=draws.device), is_last[:-1]))
    above = (counts / size - at[order])[is_last].abs()
    under = ((counts - 1) / size - just_below[order])[is_first].abs()
    apart, limit = float(torch.cat((above, under)).max()), math.sqrt(_LOG / (2 * size))
    if math.isnan(apart) or apart > limit:
        return [f"{what}: {apart:.4g} away from the distribution, at most {limit:.4g} is expected of {size} draws"]
    return []
