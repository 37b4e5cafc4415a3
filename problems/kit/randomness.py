"""Tests of random outputs that reject a correct kernel less than once in a million runs.

Every test is a bound that holds for any number of elements, not an approximation for many: Bernstein's and Freedman's
inequality for sums of bounded terms, Chernoff's for counts, and that of Dvoretzky, Kiefer and Wolfowitz with Massart's
constant for the distribution (Ann. Probab. 18, 1990).  Each test fails with probability `ALARM` at most if the output
is correct; the test of all distances between draws is one, and its distances share `ALARM` equally.  A problem applies
at most 32 tests to a call (a tensor that is written and returned counts once), and a run makes at most some 60 calls,
so the false-alarm rate of a run is below 32 * 60 * 5e-10 < 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.model import OutputMatch
from problems.kit.deferred import torch

ALARM = 5e-10
_LOG = math.log(2 / ALARM)
_LAGS = (1, 2, 32, 127, 255, 1023, 1024, 2048, 4096)
"""Distances of lanes, warps and programs, of programs whose offsets differ by one, and of blocks with one stream."""
_MOST_FOR_ALL_LAGS = 2**20  # draws, the first ones, whose products at all distances are summed
_FOURIER_ERROR = 1e-14  # bound on the relative error of such a sum in float64
_LAGS_OF_CALLS = (0, 1, 256, 1024)
"""Distances by which a call may wrongly start later in the stream of the previous call."""
_EQUAL = 2.0**-20  # bound on the probability that two 32-bit draws are equal
_LEAST_FOR_A_REPEAT = 64  # fewest draws, of at least one bit each, that do not agree by chance

CANNOT_TELL = dict.fromkeys(
    ("answer_to_other_inputs", "answer_of_another_case", "bfloat16_arithmetic", "tensorfloat32_arithmetic",
     "single_arithmetic"),
    "the answer is random, and a draw for other inputs may be a draw for these",
)  # fmt: skip
"""Lies (`problems.rules.lies`) that may pass the tests of a distribution."""


def as_match(output: torch.Tensor, faults: Sequence[str], wrong: torch.Tensor | None = None) -> OutputMatch:
    """Result of a comparer: impossible values are `wrong`; any other fault marks all elements as wrong."""
    found = next(iter(faults), "")
    if wrong is not None and bool(wrong.any()):
        return OutputMatch(wrong=wrong, message="values that the distribution never takes")
    return OutputMatch(wrong=torch.full(output.shape, bool(found), device=output.device), message=found)


def sum_faults(
    terms: torch.Tensor, variances: torch.Tensor, bounds: float, what: str, *, shift: float = 0.0
) -> list[str]:
    """One message if a sum of independent terms of mean 0 is too far from 0 (Bernstein).

    float64 `terms`, their `variances`, and the largest magnitude of a term; `shift` bounds the effect of rounding on
    the sum.
    """
    total = abs(float(terms.sum())) - shift
    limit = _LOG * bounds / 3 + math.sqrt((_LOG * bounds / 3) ** 2 + 2 * _LOG * float(variances.sum()))
    if math.isnan(total) or total > limit:
        return [f"{what}: off by {total:.4g}, at most {limit:.4g} is expected of {terms.numel()} draws"]
    return []


def mean_faults(centred: torch.Tensor, variances: torch.Tensor, bounds: float, *, shift: float = 0.0) -> list[str]:
    """Messages about the sum of centred draws and of parts: halves, even positions, products at all distances.

    Some distances, `_LAGS` and half of the draws, are also tested alone, with a lower limit than all share.

    `centred` are draws minus their means, flat, float64; `shift` bounds the effect of rounding on each of them.
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
    return faults + lag_faults(centred, variances, bounds, shift=shift)


def lag_faults(centred: torch.Tensor, variances: torch.Tensor, bounds: float, *, shift: float = 0.0) -> list[str]:
    """One message if draws depend on those at any one distance before them, among the first 2 ** 20 draws.

    Let S be the sum of the products at a distance, W the sum of their variances given all earlier draws, and B the
    bound of a product.  By the proof of Freedman's inequality exp(t S - t * t W / (2 - 2 t B / 3)) is a supermartingale
    for every t below 3 / B, so S exceeds log(1 / p) / t + t W / (2 - 2 t B / 3) with a probability of at most p.
    Since t follows from the `variances` alone, W is measured.  p is `ALARM` for both signs and all distances together.
    """
    centred, variances = centred[:_MOST_FOR_ALL_LAGS], variances[:_MOST_FOR_ALL_LAGS]
    size, product = centred.numel(), bounds * bounds
    if size < 2:
        return []
    log = math.log(2 * (size - 1) / ALARM)
    pairs = torch.arange(size - 1, 0, -1, device=centred.device, dtype=torch.float64)
    likely = (pairs * variances.mean() ** 2).clamp(min=product**2 / 100)
    factor = 1 / (product / 3 + (likely / (2 * log)).sqrt())
    measured = _variances_at_lags(centred, variances)
    limits = log / factor + factor * measured / (2 - 2 * factor * product / 3)
    limits += (2 * shift * bounds + _FOURIER_ERROR * product) * size
    sums = _products_at_lags(centred, centred).abs()
    if bool((sums <= limits).all()):
        return []
    worst = int((sums / limits).nan_to_num(math.inf).argmax())
    what = f"draws are not independent of those {worst + 1} places before"
    return [f"{what}: off by {float(sums[worst]):.4g}, at most {float(limits[worst]):.4g} is expected of {size} draws"]


def _variances_at_lags(centred: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
    """For each distance from 1 up, the sum of variances times the squares of the draws so far before."""
    if bool((variances == variances[0]).all()):  # the usual case, without a transform
        return variances[0] * (centred[:-1] ** 2).cumsum(0).flip(0)
    return _products_at_lags(variances, centred**2)


def _products_at_lags(later: torch.Tensor, earlier: torch.Tensor) -> torch.Tensor:
    """For each distance from 1 up, the sum of products of elements of `later` and those of `earlier` so far before."""
    size = later.numel()
    padded = 2 ** (2 * size - 1).bit_length()
    spectrum = torch.fft.rfft(later, padded) * torch.fft.rfft(earlier, padded).conj()
    sums: torch.Tensor = torch.fft.irfft(spectrum, padded)
    return sums[1:size]


def neighbour_faults(draws: torch.Tensor) -> list[str]:
    """One message if too many neighbours are equal, as when a program starts with the last draw of another (Chernoff).

    `draws` are of a continuous distribution, flat, in the dtype of the output; 16-bit dtypes are not tested.
    """
    expected = draws.numel() * _EQUAL
    if draws.element_size() < 4 or expected == 0:
        return []
    equal = int((draws[1:] == draws[:-1]).sum())
    return _few(equal, expected, draws.numel(), "are equal to the one before")


def repeated_faults(draws: torch.Tensor) -> list[str]:
    """One message if too many draws equal an earlier one, as with random numbers of few bits.

    As in `neighbour_faults`, flat draws of a continuous distribution in float32. For any previous draws, draw number i
    repeats one of i values with a probability of at most i * 2 ** -20, so Chernoff's bound holds for the sum.
    """
    count = draws.numel()
    expected = count * (count - 1) / 2 * _EQUAL
    if draws.element_size() < 4 or not 0 < expected < count / 4:
        return []
    return _few(count - torch.unique(draws).numel(), expected, count, "have the value of an earlier one")


def shared_faults(draws: torch.Tensor, earlier: torch.Tensor) -> list[str]:
    """One message if too many draws occur anywhere in the `earlier` call; as in `repeated_faults`."""
    count = draws.numel()
    expected = count * earlier.numel() * _EQUAL
    if draws.element_size() < 4 or not 0 < expected < count / 4:
        return []
    return _few(int(torch.isin(draws, earlier).sum()), expected, count, "are among those of the call before")


def _few(found: int, expected: float, count: int, what: str) -> list[str]:
    """One message if `found` is improbably large for independent events, `expected` on average (Chernoff)."""
    limit = next(number for number in range(1, count + 64) if _rarely(number, expected))
    return [f"{found} draws {what}, fewer than {limit} are expected of {count}"] if found >= limit else []


def _rarely(count: int, expected: float) -> bool:
    """Whether `count` independent events, `expected` on average, occur with a probability below ALARM."""
    return count > expected and count * (math.log(count / expected) - 1) + expected >= _LOG


def repeat_faults(
    centred: torch.Tensor, earlier: torch.Tensor, variances: torch.Tensor, bounds: float, *, shift: float = 0.0
) -> list[str]:
    """Messages about two calls with the same input: they must be neither equal nor dependent.

    Products are taken at equal positions, and at positions where the draw of the later call is later in the stream.
    """
    if int((variances > bounds / 64).sum()) < _LEAST_FOR_A_REPEAT:
        return []
    if bool((centred == earlier).all()):
        return ["two calls drew the same values; each call must draw new values"]
    shift = 2 * shift * bounds * centred.numel()
    faults = []
    for lag in (lag for lag in _LAGS_OF_CALLS if lag < centred.numel()):
        until, what = centred.numel() - lag, f"two calls are not independent at a distance of {lag}"
        products, scales = centred[:until] * earlier[lag:], variances[:until] * variances[lag:]
        faults += sum_faults(products, scales, bounds * bounds, what, shift=shift)
    return faults


def distribution_faults(below: torch.Tensor, what: str, *, shift: float = 0.0) -> list[str]:
    """One message if `below` is too far from uniform on [0, 1], its distribution for a correct kernel (Massart).

    `below` is the distribution function at each draw; `shift` bounds the effect of rounding on it.
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
    """Like `distribution_faults`, for integer draws of one distribution.

    `at` and `just_below` are the distribution function at each draw and at the next smaller integer.
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
