# ruff: noqa: N999 -- a problem's file has the operator's own name
"""Matrix product: C = alpha * op(A) @ op(B) + beta * C with op(X) = X or its transpose, column-major.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers.  A leading dimension is at
least the number of rows, and at least 1; what lies in the rows beyond the matrix is not read and stays as it is.  The
buffers are dense, of float32, and do not overlap; they may begin at any element of their storage.  m, n and k are at
least 0.  Where alpha or k is 0, A and B are not read, and where beta is 0, C is not: what they hold then, NaN included,
has no part in the answer.  Elsewhere NaN and infinities follow IEEE arithmetic.  Products and partial sums that
overflow are outside of the contract.  Sums are carried in float32 or better; TensorFloat-32 is not float32.  Subnormal
values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, Arguments, Layout, Special, cases_over, laid_out, normal, rounded, special_rows, torch

_over = partial(
    cases_over, dtype=F32, trans="NN", alpha=1.0, beta=0.0, padding=0, values="normal", layout=Layout.CONTIGUOUS
)
_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_COLUMNS = [Special.NAN, Special.NEGATIVE_INF]
_OLD = [*[Special.NEGATIVE_ZERO] * len(_ROWS), Special.NAN, Special.INF, Special.NEGATIVE_INF]
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


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B, C: flat buffers of leading dimension times columns; element (i, j) of A is A[i + j * lda].

    Rows beyond the matrix, `padding` of them in every column, stay as they are.  Where beta is 0, C
    need not hold numbers: there it is NaN, and must not be read.  "special" has NaN and infinities in rows of op(A),
    columns of op(B) and in C, and NaN in the padding.  In "nothing to read" A and B are NaN throughout.
    """
    m, n, k, padding = case.size("m"), case.size("n"), case.size("k"), case.size("padding")
    transa, transb = tuple(case.word("trans"))
    a_shape, b_shape = (k, m) if _is_transposed(transa) else (m, k), (n, k) if _is_transposed(transb) else (k, n)
    a, b, c = (normal((max(rows, 1) + padding, columns), F32, rng) for rows, columns in (a_shape, b_shape, (m, n)))
    beta = case.number("beta")
    lda, ldb, ldc = len(a), len(b), len(c)
    if case.word("values") == "special":
        a[: a_shape[0]] = special_rows(a[: a_shape[0]], rng, rows=_ROWS, dim=0 if _is_transposed(transa) else 1)
        b[: b_shape[0]] = special_rows(b[: b_shape[0]], rng, rows=_COLUMNS, dim=1 if _is_transposed(transb) else 0)
        c[:m] = special_rows(c[:m], rng, rows=_OLD)
        for matrix, rows in ((a, a_shape[0]), (b, b_shape[0]), (c, m)):
            matrix[rows:] = torch.nan
    if case.word("values") == "nothing to read":
        a, b = a.fill_(torch.nan), b.fill_(torch.nan)
    if beta == 0:
        c[:m] = torch.nan
    buffers = [laid_out(matrix.T.reshape(-1), case.word("layout")) for matrix in (a, b, c)]
    return transa, transb, m, n, k, case.number("alpha"), buffers[0], lda, buffers[1], ldb, beta, buffers[2], ldc


def reference(
    transa: str, transb: str, m: int, n: int, k: int, alpha: float, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int, beta: float, c: torch.Tensor, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64."""
    final = c.clone()
    matrix = _matrix(final, ldc, m, n)
    scaled = torch.zeros_like(matrix, dtype=torch.float64) if beta == 0 else beta * matrix.double()
    if alpha != 0:
        scaled += alpha * (_operand(a.double(), lda, m, k, transa) @ _operand(b.double(), ldb, k, n, transb))
    matrix.copy_(scaled)
    return final, final


def eager(
    transa: str, transb: str, m: int, n: int, k: int, alpha: float, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int, beta: float, c: torch.Tensor, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """The library's own product and sum on views of the buffers."""
    matrix = _matrix(c, ldc, m, n)
    if alpha == 0 or k == 0:
        matrix.copy_(beta * matrix if beta else torch.zeros_like(matrix))
        return c
    product = torch.addmm(
        matrix, _operand(a, lda, m, k, transa), _operand(b, ldb, k, n, transb), beta=beta, alpha=alpha
    )
    matrix.copy_(product)
    return c


def tolerance(case: Case) -> Tolerance:
    """Sums over K and the sum with C, which may cancel.  TensorFloat-32 is not float32."""
    return rounded(F32, terms=case.size("k") + 4)


def cost(case: Case) -> Cost:
    """A product and a sum for each of M * N * K, none where alpha is 0; C is read only where beta is not 0."""
    m, n, k = case.size("m"), case.size("n"), case.size("k") if case.number("alpha") else 0
    read = m * k + k * n + (m * n if case.number("beta") else 0)
    return Cost(flops=2 * m * n * k, bytes_read=read * F32.bytes, bytes_written=m * n * F32.bytes)


def _matrix(buffer: torch.Tensor, leading: int, rows: int, columns: int) -> torch.Tensor:
    """The (rows, columns) view of a column-major buffer."""
    return buffer.view(columns, leading)[:, :rows].T


def _operand(buffer: torch.Tensor, leading: int, rows: int, columns: int, trans: str) -> torch.Tensor:
    """op(X) as a (rows, columns) view of the buffer of X."""
    if _is_transposed(trans):
        return _matrix(buffer, leading, columns, rows).T
    return _matrix(buffer, leading, rows, columns)


def _is_transposed(trans: str) -> bool:
    """Whether this is "T" or "C", in upper or lower case."""
    return trans in ("T", "t", "C", "c")


PROBLEM = ProblemDefinition(
    name="cublas::cublasSgemm_v2",
    entry="cublasSgemm_v2",
    signature=(
        "cublasSgemm_v2(transa: str, transb: str, m: int, n: int, k: int, alpha: float, A: Tensor, lda: int, "
        "B: Tensor, ldb: int, beta: float, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(B) + beta*C",
    category=Category.BLAS3_GEMM,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("C",),
)
