"""Sum of matrices: C = alpha * op(A) + beta * op(B), column-major.

transa and transb are "N" or "T". op(A), op(B), C: (m, n). A leading dimension is at least the number of rows, and at
least 1; the rows beyond a matrix are not read and do not change. C is not read. The buffers are dense, of float32, and
do not overlap; they may begin at any element of their storage. m and n are at least 0. alpha and beta are Python
floats. Where alpha is 0, A is not read, and where beta is 0, B is not: their content then, NaN included, does not
influence the answer. Elsewhere NaN and infinities follow IEEE arithmetic. C in the memory of A or B, and products that
overflow, are outside of the contract. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, cancelling, torch
from problems.kit.blas import (
    SPECIAL,
    case_table,
    matrix_buffer,
    matrix_of,
    operand_of,
    placed,
    scaled_or_zero,
    special_lines,
    widened,
)
from problems.kit.tolerances import of_few

_rows = case_table("{m}x{n} {trans}", dtype=DType.FLOAT32, trans="NN", alpha=0.5, beta=-0.75, padding=0)
_OPERATIONS = ["NN", "NT", "TN", "TT"]
CASES = (
    *_rows(Tier.SMOKE, m=33, n=20, trans=["NT", "TN"], padding=3),
    *_rows(Tier.FULL, m=1, n=1),
    *_rows(Tier.FULL, m=17, n=33, trans=_OPERATIONS, alpha=-1.0, beta=1.0, padding=1),
    *_rows(Tier.FULL, m=[127, 129], n=[31, 64], trans=["NN", "TT"]),
    *_rows(Tier.FULL, m=1025, n=3, trans=["NT", "TN"]),
    *_rows(Tier.FULL, m=3, n=1025, trans=["NT", "TN"]),
    *_rows(Tier.FULL, m=12, n=8, alpha=[0.0, 1.0], beta=0.0, padding=2),
    *_rows(Tier.FULL, m=12, n=8, alpha=0.0, beta=0.5, padding=2),
    *_rows(Tier.FULL, m=0, n=5),
    *_rows(Tier.FULL, m=5, n=0),
    *_rows(Tier.FULL, m=9, n=13, trans=_OPERATIONS, padding=2, values=SPECIAL),
    *_rows(Tier.FULL, m=17, n=9, trans="TN", padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, m=32, n=71),
    *_rows(Tier.BENCH, m=4096, n=4096, trans=["NN", "TN"]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B, C: flat column-major buffers; C is NaN, and must not be read, and so is A or B where its scalar is 0.

    "special" has special values in rows of A and B.
    """
    m, n, padding = case.size("m"), case.size("n"), case.size("padding")
    transa, transb = tuple(case.word("trans"))
    shapes = (m, n) if transa == "N" else (n, m), (m, n) if transb == "N" else (n, m)
    (a, lda, _), (b, ldb, _) = (matrix_buffer(case, *shape, padding, rng) for shape in shapes)
    c, ldc, _ = matrix_buffer(case, m, n, padding, rng)
    if case.word("values") == SPECIAL:
        kinds = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO]
        for buffer, leading, shape in ((a, lda, shapes[0]), (b, ldb, shapes[1])):
            special_lines(matrix_of(buffer, leading, *shape)[0], case.dtype, rng, dim=1, rows=kinds)
    for buffer, name in ((a, "alpha"), (b, "beta")):
        if case.number(name) == 0:
            buffer.fill_(torch.nan)
    matrix_of(c, ldc, m, n).fill_(torch.nan)
    a, b, c = placed(case, a, b, c)
    return transa, transb, m, n, case.number("alpha"), a, lda, case.number("beta"), b, ldb, c, ldc


def reference(
    transa: str, transb: str, m: int, n: int, alpha: float, a: torch.Tensor, lda: int, beta: float, b: torch.Tensor,
    ldb: int, c: torch.Tensor, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64."""
    final = c.clone()
    left, right = widened(operand_of(a, lda, m, n, transa)[0]), widened(operand_of(b, ldb, m, n, transb)[0])
    matrix_of(final, ldc, m, n)[0].copy_(scaled_or_zero(alpha, left) + scaled_or_zero(beta, right))
    return final, final


def eager(
    transa: str, transb: str, m: int, n: int, alpha: float, a: torch.Tensor, lda: int, beta: float, b: torch.Tensor,
    ldb: int, c: torch.Tensor, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's products and sum of views of the buffers."""
    left, right = operand_of(a, lda, m, n, transa)[0], operand_of(b, ldb, m, n, transb)[0]
    matrix_of(c, ldc, m, n)[0].copy_(scaled_or_zero(alpha, left) + scaled_or_zero(beta, right))
    return c


def tolerance(case: Case) -> Tolerance:
    """The products may be rounded before their sum, which may cancel."""
    size = math.hypot(case.number("alpha"), case.number("beta"))
    return of_few(cancelling(case.dtype), outputs=case.size("m") * case.size("n"), scale=size)


def cost(case: Case) -> Cost:
    """Two products and a sum per element; a matrix whose scalar is 0 is not read."""
    m, n = case.size("m"), case.size("n")
    matrices = sum(case.number(name) != 0 for name in ("alpha", "beta"))
    return Cost(flops=3 * m * n, bytes_read=matrices * m * n * case.dtype.bytes, bytes_written=m * n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasSgeam",
    entry="cublasSgeam",
    signature=(
        "cublasSgeam(transa: str, transb: str, m: int, n: int, alpha: float, A: Tensor, lda: int, beta: "
        "float, B: Tensor, ldb: int, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A) + beta*op(B)",
    category=Category.BLAS_EXTENSION,
    second_oracle="numpy.add, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("C",),
)
