"""Input values with random bits, both signs, and several magnitudes within one tensor.

Uniform, constant or single-scale inputs do not reveal that a kernel skips a maximum, a mask or an absolute value.
Special values (NaN, infinities, numbers near the largest finite one) are added to such a tensor by `scattered` or
`special_rows`.  All randomness comes from the generator that the caller passes in.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

from engine.model import DType
from problems.kit.deferred import torch


def torch_dtype(dtype: DType) -> torch.dtype:
    """The torch dtype of the same name."""
    found = getattr(torch, dtype.value)
    assert isinstance(found, torch.dtype)
    return found


def normal(shape: tuple[int, ...], dtype: DType, rng: torch.Generator) -> torch.Tensor:
    """Normally distributed around 0 with standard deviation 1; complex numbers have both parts."""
    return torch.randn(shape, generator=rng, dtype=_drawn(dtype)).to(torch_dtype(dtype))


MIXED_RMS = math.sqrt(sum(4.0**exponent for exponent in range(-2, 3)) / 5)
"""The root mean square of `mixed` values around 0 with two octaves."""


def mixed(
    shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, octaves: int = 2, mean: float = 0.0
) -> torch.Tensor:
    """Like `normal` but around `mean`, each row scaled by a separate power of two.

    The exponents range from -octaves to +octaves. A row extends along the last dimension; in a vector each element has
    a separate scale.
    """
    scaled = shape if len(shape) < 2 else (*shape[:-1], 1)
    exponents = torch.randint(-octaves, octaves + 1, scaled, generator=rng)
    drawn = torch.randn(shape, generator=rng, dtype=_drawn(dtype))
    return ((drawn + mean) * torch.exp2(exponents)).to(torch_dtype(dtype))


def _drawn(dtype: DType) -> torch.dtype:
    """Dtype for drawing values of `dtype`: float64 and complex values use every bit of their own type."""
    own = (DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128)
    return torch_dtype(dtype) if dtype in own else torch.float32


def integers(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, low: int, high: int) -> torch.Tensor:
    """Integers from `low` up to but not including `high`."""
    return torch.randint(low, high, shape, generator=rng).to(torch_dtype(dtype))


_CLOSE_INTEGERS = 1000


def near_limit(x: torch.Tensor) -> torch.Tensor:
    """Integers that are less than 1000 below the largest of their dtype, from integers `x`.

    There steps of float32 are 128 for int32, and steps of float64 are 1024 for int64.
    """
    return torch.iinfo(x.dtype).max - x % _CLOSE_INTEGERS


def distinct(count: int, below: int, rng: torch.Generator) -> torch.Tensor:
    """`count` distinct numbers below `below` in random order, int64, in memory of exactly their size."""
    return torch.randperm(below, generator=rng)[:count].clone()


class Special(enum.StrEnum):
    """A value, or a row of values, with special rules in arithmetic."""

    NAN = "nan"
    INF = "inf"
    NEGATIVE_INF = "-inf"
    BOTH_INF = "inf and -inf"
    NAN_BEFORE_INF = "nan before inf"
    INF_BEFORE_NAN = "inf before nan"
    TWO_NANS = "two nan"
    LARGE = "large"
    OVERFLOW = "overflow"
    DETOUR = "detour"
    ALL_NEGATIVE_INF = "all -inf"
    ALL_NEGATIVE_ZERO = "all -0.0"
    SUBNORMAL = "subnormal"
    NEGATIVE_ZERO = "-0.0"


SPECIAL_VALUES = (
    Special.NAN,
    Special.INF,
    Special.NEGATIVE_INF,
    Special.NEGATIVE_ZERO,
    Special.LARGE,
    Special.SUBNORMAL,
)
"""Values of single elements that are special in any computation."""

_NEAR_LARGEST = 0.45  # a sum of three overflows; the double of one, which correct kernels may compute, does not
_PAIRED_LARGEST = 0.75  # a sum of two overflows with any rounding
_OVERFLOWING = 4
_DETOUR = 2.0**14  # exact in every float dtype used; a sum of eight overflows float16
_DETOUR_STEPS = 8


def scattered(
    tensor: torch.Tensor, rng: torch.Generator, *, values: Sequence[Special] = SPECIAL_VALUES, each: int = 2
) -> torch.Tensor:
    """A copy of `tensor` with each of `values` in `each` elements at random distinct positions.

    LARGE and SUBNORMAL alternate in sign. A tensor too small for all values gets the first ones.
    """
    flat = tensor.flatten().clone()
    places = torch.randperm(flat.numel(), generator=rng)
    for number, place in enumerate(places[: each * len(values)].tolist()):
        flat[place] = _number(values[number // each], tensor.dtype, negative=number % 2 == 1)
    return flat.view(tensor.shape)


def special_rows(tensor: torch.Tensor, rng: torch.Generator, *, rows: Sequence[Special], dim: int = -1) -> torch.Tensor:
    """A copy of `tensor` whose first lines along `dim` are special, in the order of `rows`; the rest is unchanged.

    A line of NAN, INF, NEGATIVE_INF, NEGATIVE_ZERO, SUBNORMAL or LARGE has one such element at a random position,
    BOTH_INF one infinity of each sign, NAN_BEFORE_INF and INF_BEFORE_NAN one NaN and one infinity in this order, and
    TWO_NANS two NaN. In OVERFLOW all elements are positive and four of them add up to infinity in any order. In DETOUR
    the last eight elements cancel the first eight: the sum is unchanged, but partial sums overflow float16, and in
    bfloat16 they lose the other terms.
    """
    moved = tensor.movedim(dim, -1)
    lines = moved.reshape(-1, moved.shape[-1]).clone()
    if len(rows) > len(lines):
        raise ValueError(f"{len(rows)} special rows requested, the tensor {tuple(tensor.shape)} has {len(lines)}")
    for line, special in zip(lines, rows, strict=False):
        _fill(line, special, rng)
    return lines.view(moved.shape).movedim(-1, dim)


def special_pairs(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Copies of two matrices of one shape; their first rows and columns pair every special value with every other."""
    made = []
    for tensor, across in ((left, False), (right, True)):
        numbers = [_number(value, tensor.dtype, negative=False) for value in SPECIAL_VALUES]
        large = _PAIRED_LARGEST * torch.finfo(tensor.dtype).max
        numbers = [
            large if value is Special.LARGE else number for value, number in zip(SPECIAL_VALUES, numbers, strict=True)
        ]
        numbers.append(-large)
        size = len(numbers)
        column = torch.tensor(numbers, dtype=tensor.dtype, device=tensor.device).unsqueeze(1).expand(size, size)
        copy = tensor.clone()
        copy[:size, :size] = column.T if across else column
        made.append(copy)
    return made[0], made[1]


def _fill(line: torch.Tensor, special: Special, rng: torch.Generator) -> None:
    """Make one line special, in place."""
    places = torch.randperm(len(line), generator=rng).tolist()
    match special:
        case Special.ALL_NEGATIVE_INF:
            line.fill_(-math.inf)
        case Special.ALL_NEGATIVE_ZERO:
            line.fill_(-0.0)
        case Special.BOTH_INF:
            line[places[0]], line[places[1]] = math.inf, -math.inf
        case Special.NAN_BEFORE_INF:
            line[min(places[:2])], line[max(places[:2])] = math.nan, math.inf
        case Special.INF_BEFORE_NAN:
            line[min(places[:2])], line[max(places[:2])] = math.inf, math.nan
        case Special.TWO_NANS:
            line[places[:2]] = math.nan
        case Special.OVERFLOW:
            line.abs_()
            line[places[:_OVERFLOWING]] = _number(Special.LARGE, line.dtype, negative=False)
        case Special.DETOUR:
            if len(line) < 2 * _DETOUR_STEPS:
                raise ValueError(f"a detour needs a row of {2 * _DETOUR_STEPS} elements, this one has {len(line)}")
            line[:_DETOUR_STEPS] = _DETOUR
            line[-_DETOUR_STEPS:] = -_DETOUR
        case _:
            line[places[0]] = _number(special, line.dtype, negative=False)


def _number(special: Special, dtype: torch.dtype, *, negative: bool) -> float:
    """The single number of `special` in this dtype."""
    limits = torch.finfo(dtype)
    numbers = {
        Special.NAN: math.nan,
        Special.INF: math.inf,
        Special.NEGATIVE_INF: -math.inf,
        Special.NEGATIVE_ZERO: -0.0,
        Special.LARGE: _NEAR_LARGEST * limits.max,
        Special.SUBNORMAL: limits.tiny / 4,
    }
    number = numbers[special]
    return -number if negative and special in (Special.LARGE, Special.SUBNORMAL) else number
