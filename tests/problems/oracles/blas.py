"""cuBLAS routines by SciPy's BLAS where it has the routine, by NumPy's products otherwise.

SciPy's BLAS takes whole matrices in Fortran's order.  So the vectors and matrices of a case are cut out of its buffers,
given to the routine in double precision, and put back; what the routine does not touch has to be as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.linalg import blas

from engine.model import Case, Category, PointerArray, ProblemDefinition
from problems.rules.trial import Trial
from tests.problems.oracles.oracle import Oracle

Array = np.ndarray[Any, Any]
Routine = Callable[[Any], None]


class Call:
    """The arguments of a case as attributes by their names, tensors as arrays that an oracle writes into."""

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self.by_name = dict(zip(names, values, strict=True))

    def __getattr__(self, name: str) -> Any:
        return self.by_name[name]


def routine(name: str, array: Array) -> Any:
    """scipy's routine of this name in double precision, for the kind of number that the array holds."""
    return getattr(blas, f"{'z' if array.dtype.kind == 'c' else 'd'}{name}")


def number(letter: str) -> int:
    """An operation as scipy counts: 0 as it is, 1 transposed, 2 conjugated and transposed."""
    return "NTC".index(letter.upper())


def vector(buffer: Array, n: int, increment: int) -> Array:
    """(n,) the elements in the order of the vector, in double precision; a copy."""
    first = 0 if increment >= 0 else (1 - n) * increment
    return doubled(np.array([buffer[first + i * increment] for i in range(n)], dtype=buffer.dtype))


def put(buffer: Array, increment: int, values: Array) -> None:
    """Write the elements of a vector."""
    first = 0 if increment >= 0 else (1 - len(values)) * increment
    for i, value in enumerate(values):
        buffer[first + i * increment] = value


def matrix(buffer: Array, leading: int, rows: int, columns: int) -> Array:
    """(rows, columns), a view."""
    if rows * columns == 0:
        return np.zeros((rows, columns), dtype=buffer.dtype)
    size = buffer.itemsize
    return np.lib.stride_tricks.as_strided(buffer, (rows, columns), (size, size * leading))


def doubled(array: Array) -> Array:
    """The same numbers in float64 or complex128, in Fortran's order and memory of their own."""
    return np.array(array, dtype=np.complex128 if array.dtype.kind == "c" else np.float64, order="F")


def copy(c: Call) -> None:
    x, y = vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy)
    put(c.y, c.incy, routine("copy", c.x)(x, y))


def swap(c: Call) -> None:
    x, y = routine("swap", c.x)(vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy))
    put(c.x, c.incx, x)
    put(c.y, c.incy, y)


def scal(c: Call) -> None:
    put(c.x, c.incx, blas.dscal(c.alpha, vector(c.x, c.n, c.incx)))


def axpy(c: Call) -> None:
    put(c.y, c.incy, blas.daxpy(vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy), a=c.alpha))


def asum(c: Call) -> None:
    c.result[0] = blas.dasum(vector(c.x, c.n, c.incx))


def dot(name: str) -> Routine:
    def product(c: Call) -> None:
        c.result[0] = getattr(blas, name)(vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy))

    return product


def gemv(c: Call) -> None:
    count_x, count_y = (c.n, c.m) if c.trans == "N" else (c.m, c.n)
    a, x, y = doubled(matrix(c.A, c.lda, c.m, c.n)), vector(c.x, count_x, c.incx), vector(c.y, count_y, c.incy)
    put(c.y, c.incy, routine("gemv", a)(c.alpha, a, x, beta=c.beta, y=y, trans=number(c.trans)))


def ger(name: str) -> Routine:
    def update(c: Call) -> None:
        a = matrix(c.A, c.lda, c.m, c.n)
        x, y = vector(c.x, c.m, c.incx), vector(c.y, c.n, c.incy)
        a[:] = getattr(blas, name)(c.alpha, x, y, a=doubled(a))

    return update


def syr2(c: Call) -> None:
    a = matrix(c.A, c.lda, c.n, c.n)
    x, y = vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy)
    a[:] = blas.dsyr2(c.alpha, x, y, lower=c.uplo == "L", a=doubled(a))


def syrk(c: Call) -> None:
    rows, columns = (c.n, c.k) if c.trans == "N" else (c.k, c.n)
    a, old = doubled(matrix(c.A, c.lda, rows, columns)), matrix(c.C, c.ldc, c.n, c.n)
    made = routine("syrk", a)(c.alpha, a, beta=c.beta, c=doubled(old), trans=number(c.trans), lower=c.uplo == "L")
    triangle = np.tri(c.n, dtype=bool) if c.uplo == "L" else np.tri(c.n, dtype=bool).T
    old[triangle] = made[triangle]


def symv(c: Call) -> None:
    """numpy's product: scipy's BLAS has no complex one of a symmetric matrix."""
    a, y = doubled(matrix(c.A, c.lda, c.n, c.n)), vector(c.y, c.n, c.incy)
    half = np.tril(a) if c.uplo == "L" else np.triu(a)
    product = np.dot(half + np.tril(half.T, -1) + np.triu(half.T, 1), vector(c.x, c.n, c.incx))
    put(c.y, c.incy, c.alpha * product + (c.beta * y if c.beta else 0))


def symm(c: Call) -> None:
    order = c.m if c.side == "L" else c.n
    a, b, old = doubled(matrix(c.A, c.lda, order, order)), matrix(c.B, c.ldb, c.m, c.n), matrix(c.C, c.ldc, c.m, c.n)
    old[:] = blas.zsymm(
        c.alpha, a, doubled(b), beta=c.beta, c=doubled(old), side="LR".index(c.side), lower=c.uplo == "L"
    )


def sbmv(c: Call) -> None:
    a, x, y = doubled(matrix(c.A, c.lda, c.k + 1, c.n)), vector(c.x, c.n, c.incx), vector(c.y, c.n, c.incy)
    put(c.y, c.incy, blas.dsbmv(c.k, c.alpha, a, x, beta=c.beta, y=y, lower=c.uplo == "L"))


def tbmv(c: Call) -> None:
    a, x = doubled(matrix(c.A, c.lda, c.k + 1, c.n)), vector(c.x, c.n, c.incx)
    put(c.x, c.incx, blas.dtbmv(c.k, a, x, lower=c.uplo == "L", trans=number(c.trans), diag=c.diag == "U"))


def trsv(c: Call) -> None:
    a, x = doubled(matrix(c.A, c.lda, c.n, c.n)), vector(c.x, c.n, c.incx)
    put(c.x, c.incx, blas.dtrsv(a, x, lower=c.uplo == "L", trans=number(c.trans), diag=c.diag == "U"))


def trsm(c: Call) -> None:
    order = c.m if c.side == "L" else c.n
    a, b = doubled(matrix(c.A, c.lda, order, order)), matrix(c.B, c.ldb, c.m, c.n)
    b[:] = routine("trsm", a)(
        c.alpha, a, doubled(b), side="LR".index(c.side), lower=c.uplo == "L", trans_a=number(c.trans),
        diag=c.diag == "U",
    )  # fmt: skip


def dgmm(c: Call) -> None:
    """numpy's product with a column or row."""
    x = vector(c.x, c.m if c.mode == "L" else c.n, c.incx)
    matrix(c.C, c.ldc, c.m, c.n)[:] = doubled(matrix(c.A, c.lda, c.m, c.n)) * (x[:, None] if c.mode == "L" else x)


def geam(c: Call) -> None:
    """numpy's sum of products."""
    total = np.zeros((c.m, c.n))
    for buffer, leading, letter, scalar in ((c.A, c.lda, c.transa, c.alpha), (c.B, c.ldb, c.transb, c.beta)):
        shape = (c.m, c.n) if letter == "N" else (c.n, c.m)
        plain = doubled(matrix(buffer, leading, *shape))
        total += scalar * (plain if letter == "N" else plain.T) if scalar else 0
    matrix(c.C, c.ldc, c.m, c.n)[:] = total


def gemm(c: Call) -> None:
    a = doubled(matrix(c.A, c.lda, *((c.m, c.k) if c.transa in "Nn" else (c.k, c.m))))
    b = doubled(matrix(c.B, c.ldb, *((c.k, c.n) if c.transb in "Nn" else (c.n, c.k))))
    old = matrix(c.C, c.ldc, c.m, c.n)
    old[:] = routine("gemm", a)(
        c.alpha, a, b, beta=c.beta, c=doubled(old), trans_a=number(c.transa), trans_b=number(c.transb)
    )


def of_batch(one: Routine) -> Routine:
    """The same for each of a batch: what begins a stride further on, or at the next pointer."""

    def all_of(c: Call) -> None:
        for number in range(c.batchCount):
            parts = {}
            for name, value in c.by_name.items():
                if isinstance(value, list):
                    parts[name.removesuffix("array")] = value[number]
                elif isinstance(value, np.ndarray):
                    parts[name] = value[number * c.by_name[f"stride{name}"] if number else 0 :]
                else:
                    parts[name] = value
            one(Call(tuple(parts), tuple(parts.values())))

    return all_of


ROUTINES: dict[str, Routine] = {
    "copy": copy, "swap": swap, "scal": scal, "axpy": axpy, "asum": asum, "Sdot": dot("ddot"), "dotu": dot("zdotu"),
    "dotc": dot("zdotc"), "gemv": gemv, "Sger": ger("dger"), "geru": ger("zgeru"), "gerc": ger("zgerc"), "syr2": syr2,
    "syrk": syrk, "symv": symv, "symm": symm, "sbmv": sbmv, "tbmv": tbmv, "trsv": trsv, "trsm": trsm, "dgmm": dgmm,
    "geam": geam, "gemm": gemm,
}  # fmt: skip
NUMPY = {"symv": "numpy.dot", "dgmm": "numpy.multiply", "geam": "numpy.add"}
"""Routines that SciPy does not have."""


def oracle_of(entry: str) -> Oracle:
    """The routine whose name the entry has in it, for each of a batch where the entry takes one."""
    (name,) = (name for name in ROUTINES if name in entry)
    routine = of_batch(ROUTINES[name]) if "atched" in entry else ROUTINES[name]
    source = NUMPY.get(name, f"SciPy's BLAS routine {name.removeprefix('S')}")
    return Oracle(source=f"{source}, in double precision", differences=lambda trial: differences(trial, routine))


def array_of(value: Any) -> Any:
    if isinstance(value, PointerArray):
        return [tensor.clone().numpy() for tensor in value.tensors]
    return value.clone().numpy() if isinstance(value, torch.Tensor) else value


def is_comparable(problem: ProblemDefinition, case: Case) -> bool:
    """Whether SciPy takes the case: its wrappers refuse empty operands, and its BLAS leaves special values open."""
    size = case.params.get
    is_empty = 0 in (size("m"), size("n"), size("batch")) or (problem.category in SUMS_OVER_K and size("k") == 0)
    ends_at_once = problem.entry in ("cublasDasum_v2", "cublasSscal_v2") and case.size("incx") <= 0
    return case.params["values"] in PLAIN and not is_empty and not ends_at_once


PLAIN = ("normal", "unread nan")
SUMS_OVER_K = (Category.BLAS3_GEMM, Category.BLAS3_RANK)
LEAST_CASES = 9


def differences(trial: Trial, routine: Routine) -> list[str]:
    """The comparable SMOKE and FULL cases in which a written buffer differs by more than the tolerance."""
    cases = [case for case in trial.cases if is_comparable(trial.problem, case)]
    assert len(cases) >= LEAST_CASES
    return [case.name for case in cases if not agree(trial, case, routine)]


def agree(trial: Trial, case: Case, routine: Routine) -> bool:
    """Whether every written buffer is the same, up to the tolerance of the problem."""
    problem = trial.problem
    call = Call(problem.arguments, tuple(map(array_of, trial.given(case))))
    routine(call)
    tolerance = problem.tolerance(case)
    written = [part for name in problem.mutates for part in as_list(call.by_name[name])]
    expected = trial.expected(case)[problem.returns :]
    return all(
        np.allclose(got, wanted, rtol=tolerance.relative, atol=tolerance.absolute * typical(wanted), equal_nan=True)
        for got, wanted in zip(written, map(array_of, expected), strict=True)
    )


def typical(values: Array) -> float:
    """The root of the mean square of the finite values."""
    finite = np.abs(values[np.isfinite(values)].astype(np.complex128))
    largest = float(finite.max(initial=0.0))
    return largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if largest else 0.0


def as_list(value: Any) -> list[Array]:
    return value if isinstance(value, list) else [value]
