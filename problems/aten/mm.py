"""Matrix product: y[i, j] = sum_k self[i, k] * mat2[k, j].

Any strides of both.  NaN and infinities follow IEEE arithmetic: a NaN in self makes its row NaN, one in mat2 its
column; inf times 0 is NaN.  Products and partial sums that overflow are outside of the contract.  Sums are carried in
float32 or better.  Subnormal values may be flushed to zero.  float64 is outside of the contract.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    integers,
    laid_out,
    mixed,
    normal,
    rounded,
    special_rows,
    torch,
)
from problems.kit.products import repeated_ends, with_detour

_over = partial(cases_over, layout=Layout.CONTIGUOUS, mat2_layout=Layout.CONTIGUOUS, values="mixed")
_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_COLUMNS = [Special.NAN, Special.NEGATIVE_INF]
_MKN = "{m}x{k}x{n}"

CASES = (
    *_over(Tier.SMOKE, f"{_MKN} {{dtype}}", m=33, k=65, n=40, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_MKN} {{dtype}} mat2 {{mat2_layout}}", m=32, k=64, n=64, dtype=F32, mat2_layout="transposed"),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=1, k=1, n=1, dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=1, k=[0, 1, 32, 497], n=71, dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=0, k=8, n=5, dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=[31, 32, 33], k=33, n=[63, 64, 65], dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=[1, 64], k=[127, 128, 129], n=17, dtype=FLOATS),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=650, k=17, n=130, dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=15, k=1024, n=40, dtype=FLOATS),
    *_over(Tier.FULL, f"{_MKN} {{dtype}}", m=7, k=2049, n=5, dtype=F32),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} {{values}}", m=33, k=200, n=65, dtype=FLOATS, values="integers"),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} {{values}}", m=9, k=520, n=8, dtype=[F16, BF16], values="detour"),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} {{layout}}", m=40, k=71, n=48, dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} mat2 {{mat2_layout}}", m=40, k=71, n=48, dtype=[F32, BF16],
           mat2_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} both {{layout}}", m=40, k=71, n=48, dtype=F32,
           layout="transposed", mat2_layout="transposed"),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} both {{layout}}", m=17, k=33, n=20, dtype=F16,
           layout=Layout.IRREGULAR, mat2_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_MKN} {{dtype}} {{values}}", m=17, k=33, n=20, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, f"{_MKN} {{dtype}}", m=15, k=1024, n=160, dtype=F32),
    *_over(Tier.BENCH, f"{_MKN} {{dtype}}", m=495, k=71, n=5333, dtype=F32),
    *_over(Tier.BENCH, f"{_MKN} {{dtype}}", m=4096, k=4096, n=4096, dtype=BF16),
    *_over(Tier.BENCH, f"{_MKN} {{dtype}} mat2 {{mat2_layout}}", m=4096, k=4096, n=4096, dtype=BF16,
           mat2_layout="transposed"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: (M, K), mat2: (K, N); small whole numbers make every float32 sum exact in any order.

    "detour" makes partial sums large, see `problems.kit.products.with_detour`. "special" has NaN and infinities in some
    rows of self and columns of mat2.  Partial sums that overflow depend on the order, which is outside of the contract.
    """
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    if case.word("values") == "integers":
        left, right = (integers(shape, case.dtype, rng, low=-2, high=3) for shape in ((m, k), (k, n)))
    else:
        left, right = mixed((m, k), case.dtype, rng), normal((k, n), case.dtype, rng)
    if case.word("values") == "special":
        left = special_rows(left, rng, rows=_ROWS)
        right = special_rows(right, rng, rows=_COLUMNS, dim=0)
    if case.word("values") == "detour":
        left, right = with_detour(left), repeated_ends(right).abs()
    return laid_out(left, case.word("layout")), laid_out(right, case.word("mat2_layout"))


def reference(x: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """(M, K), (K, N) -> (M, N), computed in float64."""
    return (x.double() @ mat2.double()).to(x.dtype)


def eager(x: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.mm(x, mat2)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and sums over K.  TensorFloat-32 is not float32."""
    return rounded(case.dtype, terms=case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each of M * N * K."""
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    return Cost(
        flops=2 * m * k * n, bytes_read=(m * k + k * n) * case.dtype.bytes, bytes_written=m * n * case.dtype.bytes
    )


PROBLEM = ProblemDefinition(
    name="aten::mm",
    entry="mm",
    signature="mm(self: Tensor, mat2: Tensor) -> Tensor",
    summary="2-D matrix product, B row- or column-major",
    category=Category.MATMUL,
    second_oracle="numpy.matmul, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
