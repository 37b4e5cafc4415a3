# ruff: noqa: N999 -- a problem's file has the operator's own name
"""Matrix product: C = alpha * op(A) @ op(B) + beta * C with op(X) = X or its transpose, column-major.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers.  A leading dimension is at
least the number of rows, and at least 1; the rows beyond the matrix are not read and do not change.  The buffers are
dense, of float32, and do not overlap; they may begin at any element of their storage.  m, n and k are at least 0.
Where alpha or k is 0, A and B are not read, and where beta is 0, C is not: their content then, NaN included, does not
influence the answer.  Elsewhere NaN and infinities follow IEEE arithmetic.  Products and partial sums that overflow are
outside of the contract.  Sums are carried in float32 or better; TensorFloat-32 is not float32.  Subnormal values may be
flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Category, ProblemDefinition, Tier
from problems.kit import F32, Layout, cases_over
from problems.kit.blas import gemm_cost, gemm_eager, gemm_inputs, gemm_reference, gemm_tolerance

_over = partial(
    cases_over, dtype=F32, trans="NN", alpha=1.0, beta=0.0, padding=0, values="normal", layout=Layout.CONTIGUOUS
)
_MNK = "{m}x{n}x{k} {trans}"
_SCALED = f"{_MNK} alpha {{alpha}} beta {{beta}}"

CASES = (
    *_over(Tier.SMOKE, _SCALED, m=17, n=33, k=65, trans=["NN", "TN"], alpha=2.0, beta=-0.5, padding=3),
    *_over(Tier.SMOKE, _SCALED, m=32, n=64, k=16),
    *_over(Tier.FULL, _MNK, m=1, n=1, k=1),
    *_over(Tier.FULL, _SCALED, m=16, n=16, k=16, trans=["NN", "NT", "TN", "TT"], alpha=0.5, beta=0.5),
    *_over(Tier.FULL, _SCALED, m=17, n=33, k=65, trans=["NN", "NT", "TN", "TT"], padding=5),
    *_over(Tier.FULL, _SCALED, m=31, n=[63, 64, 65], k=[32, 33], alpha=-1.0, beta=1.0, padding=1),
    *_over(Tier.FULL, _SCALED, m=71, n=71, k=71, trans=["NN", "TT"], alpha=[0.001, 100.001], beta=[0.999, -1.0],
           padding=1),
    *_over(Tier.FULL, _SCALED, m=33, n=71, k=497, trans=["NN", "TN"], alpha=-0.999, beta=0.5),
    *_over(Tier.FULL, _SCALED, m=133, n=135, k=17, trans=["NN", "TT"], beta=0.5, padding=1),
    *_over(Tier.FULL, _SCALED, m=64, n=32, k=48, alpha=0.0, beta=[0.0, 1.0, 0.5], padding=2),
    *_over(Tier.FULL, _SCALED, m=9, n=17, k=0, beta=[0.0, 0.5], padding=2),
    *_over(Tier.FULL, _SCALED, m=0, n=5, k=4, beta=0.5, padding=2),
    *_over(Tier.FULL, _SCALED, m=5, n=0, k=4, beta=0.5, padding=2),
    *_over(Tier.FULL, _MNK, m=7, n=9, k=11, trans=["Cn", "nc"], padding=1),
    *_over(Tier.FULL, _SCALED, m=7, n=9, k=11, trans="tn", alpha=1e30, beta=1e-30),
    *_over(Tier.FULL, _SCALED, m=7, n=9, k=11, trans="tn", alpha=1e-30, beta=1e30),
    *_over(Tier.FULL, f"{_SCALED} {{values}}", m=9, n=17, k=33, trans=["NN", "TT"], beta=-0.5, padding=2,
           values="special"),
    *_over(Tier.FULL, f"{_SCALED} {{values}}", m=9, n=17, k=33, alpha=0.0, beta=[0.0, 0.5], padding=2,
           values="nothing to read"),
    *_over(Tier.FULL, f"{_SCALED} all {{layout}}", m=17, n=9, k=21, trans="TN", beta=0.5, padding=1,
           layout=Layout.OFFSET),
    *_over(Tier.FULL, _MNK, m=3, n=5, k=2053),
    *_over(Tier.BENCH, _SCALED, m=128, n=256, k=64, beta=0.5),
    *_over(Tier.BENCH, _SCALED, m=256, n=256, k=256, trans=["NN", "TN"]),
    *_over(Tier.BENCH, _SCALED, m=2048, n=2048, k=2048, trans=["NN"]),
)  # fmt: skip

PROBLEM = ProblemDefinition(
    name="cublas::cublasSgemm_v2",
    entry="cublasSgemm_v2",
    signature=(
        "cublasSgemm_v2(transa: str, transb: str, m: int, n: int, k: int, alpha: float, A: Tensor, lda: int, "
        "B: Tensor, ldb: int, beta: float, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(B) + beta*C",
    category=Category.BLAS3_GEMM,
    second_oracle="SciPy's BLAS routine gemm, in double precision",
    cases=CASES,
    make_inputs=gemm_inputs,
    reference=gemm_reference,
    eager=gemm_eager,
    tolerance=gemm_tolerance,
    cost=gemm_cost,
    mutates=("C",),
)
