"""The cases of matrix products: sizes around the block sizes of kernels, all operations, scalars, padding, batches."""

from __future__ import annotations

from functools import partial

from engine.model import Case, DType, Tier
from problems.kit.blas.buffers import SPECIAL
from problems.kit.blas.gemm import DETOUR, NOTHING_READ
from problems.kit.blas.scalars import COMPLEX_DTYPES, scalar_parameter
from problems.kit.blas.tables import CaseTable, case_table
from problems.kit.layouts import Layout

_REAL_OPERATIONS = ["NN", "NT", "TN", "TT"]
_COMPLEX_OPERATIONS = ["NN", "NT", "NC", "TN", "TT", "TC", "CN", "CT", "CC"]


def gemm_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a single product."""
    rows = product_table(dtype, "{m}x{n}x{k} {trans}")
    return product_rows(dtype, rows) + rows(Tier.BENCH, m=1024, n=1024, k=1024)


def strided_gemm_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a batch with fixed strides; in "shared" the whole batch uses one A."""
    rows = product_table(dtype, "{batch}x {m}x{n}x{k} {trans}", batch=2, gap=0, strides="own")
    half = scalar_parameter(dtype, 0.5)
    return (
        *product_rows(dtype, rows),
        *rows(Tier.FULL, m=17, n=9, k=21, batch=[1, 4], gap=7, beta=half),
        *rows(Tier.FULL, m=16, n=33, k=8, trans=["NN", "TN"], batch=3, gap=2, strides="shared", beta=half),
        *rows(Tier.FULL, m=5, n=6, k=7, batch=0, beta=half),
        *rows(Tier.BENCH, m=512, n=512, k=512, batch=8),
    )


def far_gemm_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a batch with 64-bit sizes, some with strides that do not fit into 32 bits."""
    rows = product_table(dtype, "{batch}x {m}x{n}x{k} {trans}", batch=1, gap=0, strides="own")
    half = scalar_parameter(dtype, 0.5)
    return strided_gemm_cases(dtype=dtype) + rows(
        Tier.FULL, m=9, n=17, k=5, trans=["NN", "TT"], strides="far", beta=half
    )


def product_table(dtype: DType, label: str, **plain: int | str) -> CaseTable:
    """Rows of the case table of products: C = A @ B without padding unless a row overrides fields."""
    one, zero = scalar_parameter(dtype, 1.0), scalar_parameter(dtype, 0.0)
    return case_table(label, dtype=dtype, trans="NN", alpha=one, beta=zero, padding=0, **plain)


def product_rows(dtype: DType, rows: CaseTable) -> tuple[Case, ...]:
    """Table rows that single products and batches share."""
    operations = _COMPLEX_OPERATIONS if dtype in COMPLEX_DTYPES else _REAL_OPERATIONS
    scale = partial(scalar_parameter, dtype)
    zero, one, half = scale(0.0), scale(1.0), scale(0.5, -0.5)
    return (
        *rows(Tier.SMOKE, m=17, n=33, k=20, trans=["NN", "TN"], alpha=scale(2.0, 0.5), beta=scale(-0.5, 1), padding=3),
        *rows(Tier.FULL, m=1, n=1, k=1),
        *rows(Tier.FULL, m=16, n=16, k=16, alpha=scale(0.5, 0.25), beta=half),
        *rows(Tier.FULL, m=7, n=9, k=11, trans=operations, alpha=scale(-1.0, 2), beta=one, padding=1),
        *rows(Tier.FULL, m=31, n=[63, 65], k=33, alpha=scale(-0.75, 0.5), beta=scale(-1.0, 0.5), padding=1),
        *rows(Tier.FULL, m=33, n=17, k=129, trans="TN", beta=half),
        *rows(Tier.FULL, m=12, n=8, k=10, alpha=zero, beta=[zero, one, half], padding=2, values=NOTHING_READ),
        *rows(Tier.FULL, m=9, n=17, k=0, beta=[zero, half], padding=2),
        *rows(Tier.FULL, m=0, n=5, k=4, beta=half, padding=2),
        *rows(Tier.FULL, m=5, n=0, k=4, beta=half, padding=2),
        *rows(Tier.FULL, m=7, n=5, k=6, trans=["tn", "Cc"], padding=1),
        *rows(Tier.FULL, m=9, n=17, k=13, trans=["NN", "TT"], beta=scale(-0.5), padding=2, values=SPECIAL),
        *rows(Tier.FULL, m=17, n=9, k=21, trans="TN", beta=scale(0.5), padding=1, layout=Layout.OFFSET),
        *(rows(Tier.FULL, m=5, n=8, k=512, trans="TN", values=DETOUR) if dtype is DType.FLOAT16 else ()),
        *rows(Tier.BENCH, m=128, n=256, k=64, beta=half),
    )
