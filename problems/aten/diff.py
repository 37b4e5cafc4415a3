"""Forward difference: y[i] = x[i + 1] - x[i] along one dimension, n times, x = prepend, self, append joined.

Any rank from 1, any strides of all tensors.  If the joined dimension has at most n elements, the answer has none; n = 0
gives self, without prepend and append.  Integers wrap around, bool differs by exclusive or.  A difference of a
difference may be rounded to the dtype in between.  NaN and infinities follow IEEE arithmetic: inf - inf is NaN.
Overloads: diff is tested; .out computes the same.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, EXACT, F16, F32, FLOATS, Arguments, Layout, Special, cases_over, torch
from problems.kit.indexing.positions import wide_dtype
from problems.kit.layouts import laid_out
from problems.kit.movement import any_values, copied, count
from problems.kit.tolerances import of_few
from problems.kit.values import MIXED_RMS, special_rows

_over = partial(
    cases_over, n=1, dim=-1, layout=Layout.CONTIGUOUS, ends_layout=Layout.CONTIGUOUS, before=0, after=0, values="mixed"
)
_NAME = "{shape} n {n} dim {dim} {dtype}"
_ENDS = f"{_NAME} ends {{before}} {{after}}"
_SPECIAL = [Special.NAN, Special.INF, Special.BOTH_INF, Special.NEGATIVE_INF, Special.SUBNORMAL]

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(5, 257), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _ENDS, shape=(4, 33, 5), dim=1, n=2, before=1, after=2, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(1,), (2,), (31, 1), (0, 5), (5, 0)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(16,), n=[0, 1, 2, 3, 15, 16], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(16, 127), (16, 128), (16, 129), (5, 1023), (3, 4099)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(4, 1025), n=[1, 2], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(31, 17), dim=[0, -2], n=[1, 2], dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 6), dim=[0, 2, 4], dtype=F32),
    *_over(Tier.FULL, _ENDS, shape=(8, 33), before=[0, 1, 3], after=[0, 2], dtype=F32),
    *_over(Tier.FULL, _ENDS, shape=(8, 33), dim=0, before=2, after=1, n=2, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(9, 40), n=[1, 2], dtype=[DType.FLOAT64, DType.INT64, DType.INT32, DType.INT8,
           DType.UINT8, DType.BOOL]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_ENDS} all {{layout}}", shape=(3, 7, 2, 3), dim=1, before=2, after=3, dtype=F16,
           layout=Layout.IRREGULAR, ends_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(8, 300), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(256, 4096, 16), dim=1, n=2, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, n, dim, prepend and append: `before` and `after` elements along the dim, None for 0.

    "special" rows hold NaN and infinities.
    """
    x = any_values(case.shape("shape"), case.dtype, rng)
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=_SPECIAL)
    ends = [_end(case, key, rng) for key in ("before", "after")]
    return laid_out(x, case.word("layout")), case.size("n"), case.size("dim"), *ends


def _end(case: Case, key: str, rng: torch.Generator) -> torch.Tensor | None:
    if case.size(key) == 0:
        return None
    shape = list(case.shape("shape"))
    shape[case.size("dim")] = case.size(key)
    return any_values(tuple(shape), case.dtype, rng, layout=case.word("ends_layout"))


def reference(
    x: torch.Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: torch.Tensor | None = None,
    append: torch.Tensor | None = None,
) -> torch.Tensor:
    """The joined shape, shorter by n along the dim; differences of slices in float64, integers exactly."""
    lines = torch.cat([part for part in (prepend, x, append) if part is not None], dim).movedim(dim, -1)
    if x.dtype != torch.bool:
        lines = lines.to(wide_dtype(x.dtype))
    for _ in range(min(n, lines.shape[-1])):
        after, before = lines[..., 1:], lines[..., :-1]
        lines = after ^ before if x.dtype == torch.bool else after - before
    return lines.movedim(-1, dim).to(x.dtype)


def eager(
    x: torch.Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: torch.Tensor | None = None,
    append: torch.Tensor | None = None,
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.diff(x, n, dim, prepend, append)


def tolerance(case: Case) -> Tolerance:
    """n differences that may each be rounded; the error of one is at most doubled by the next.

    The n-th difference of independent values is at least about 2 ** (n / 2) times as large as the values, so errors
    relative to the output grow by the square root of 2 per step; a factor of 2 is allowed. The mean square of an n-th
    difference of independent values is that of the values times the sum of the squared coefficients, the binomial
    coefficient (2 n over n).
    """
    if case.dtype.epsilon == 0.0:
        return EXACT
    steps = min(case.size("n"), 4)
    usual = Tolerance(relative=2 * case.dtype.epsilon, absolute=4 * 2**steps * case.dtype.epsilon)
    if case.word("values") != "mixed":
        return usual
    n, shape = case.size("n"), case.shape("shape")
    length = shape[case.size("dim")]
    outputs = count(shape) // max(length, 1) * (length + case.size("before") + case.size("after") - n)
    return of_few(usual, outputs=outputs, scale=MIXED_RMS * math.sqrt(math.comb(2 * n, n)))


def cost(case: Case) -> Cost:
    """One subtraction for each step and remaining element."""
    shape, n = list(case.shape("shape")), case.size("n")
    read = joined = shape[case.size("dim")] + case.size("before") + case.size("after")
    rest = count(shape) // shape[case.size("dim")] if count(shape) else 0
    left = max(joined - n, 0)
    moved = copied(case, read=read * rest if left else 0, written=left * rest)
    return Cost(flops=n * left * rest, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::diff",
    entry="diff",
    signature=(
        "diff(self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) "
        "-> Tensor"
    ),
    summary="n-th forward difference along a dim, optional prepend and append",
    category=Category.SCAN,
    second_oracle="numpy.diff, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
