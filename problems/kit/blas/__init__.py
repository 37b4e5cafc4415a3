"""Shared parts of the BLAS routines: buffers with increments and leading dimensions, scalars, cases, families.

Imports the modules of `problems.kit` and no torch; problems import from this package, never from its modules.
"""

from __future__ import annotations

from problems.kit.blas.band import band_buffer, diagonal_of
from problems.kit.blas.buffers import (
    SPECIAL,
    UNREAD_NAN,
    batch_of,
    fill_padding,
    matrix_buffer,
    placed,
    scattered_vector,
    special_lines,
    vector_buffer,
    vector_span,
)
from problems.kit.blas.gemm import (
    NOTHING_READ,
    add_product,
    gemm_cost,
    gemm_eager,
    gemm_inputs,
    gemm_reference,
    gemm_tolerance,
    half_gemm_tolerance,
    strided_gemm_eager,
    strided_gemm_inputs,
    strided_gemm_reference,
)
from problems.kit.blas.gemm_cases import far_gemm_cases, gemm_cases, strided_gemm_cases
from problems.kit.blas.gemv import (
    gemv_cases,
    gemv_cost,
    gemv_eager,
    gemv_inputs,
    gemv_reference,
    gemv_tolerance,
    strided_gemv_cases,
    strided_gemv_eager,
    strided_gemv_inputs,
    strided_gemv_reference,
)
from problems.kit.blas.pointers import (
    pointer_gemm_cases,
    pointer_gemm_eager,
    pointer_gemm_inputs,
    pointer_gemm_reference,
    pointer_gemv_cases,
    pointer_gemv_eager,
    pointer_gemv_inputs,
    pointer_gemv_reference,
    pointer_trsm_eager,
    pointer_trsm_inputs,
    pointer_trsm_reference,
)
from problems.kit.blas.rank import ger_cases, ger_cost, ger_eager, ger_inputs, ger_reference, ger_tolerance
from problems.kit.blas.scalars import COMPLEX_DTYPES, parts_of, scalar_of, scalar_parameter
from problems.kit.blas.syrk import syrk_cases, syrk_cost, syrk_eager, syrk_inputs, syrk_reference, syrk_tolerance
from problems.kit.blas.tables import CaseTable, case_table
from problems.kit.blas.triangular import (
    NAN_FIRST,
    SOLVES_LEAVE_OPEN,
    is_forward,
    solve_tolerance,
    solved,
    solved_from,
    symmetric_buffer,
    triangular_buffer,
)
from problems.kit.blas.trsm import solve_cost, trsm_buffers, trsm_cases, trsm_eager, trsm_reference
from problems.kit.blas.vectors import (
    axpy_cost,
    axpy_eager,
    axpy_reference,
    axpy_tolerance,
    copy_cases,
    copy_cost,
    copy_eager,
    copy_inputs,
    copy_reference,
    copy_tolerance,
    dot_cases,
    dot_cost,
    dot_eager,
    dot_inputs,
    dot_reference,
    dot_tolerance,
    vector_table,
)
from problems.kit.blas.views import (
    in_triangle,
    matrix_of,
    operand_of,
    scaled_or_zero,
    symmetric_of,
    transformed,
    triangular_of,
    vector_of,
    widened,
    write_vector,
)

__all__ = [
    "COMPLEX_DTYPES", "NAN_FIRST", "NOTHING_READ", "SOLVES_LEAVE_OPEN", "SPECIAL", "UNREAD_NAN", "CaseTable",
    "add_product", "axpy_cost", "axpy_eager", "axpy_reference", "axpy_tolerance", "band_buffer", "batch_of",
    "case_table", "copy_cases", "copy_cost", "copy_eager", "copy_inputs", "copy_reference", "copy_tolerance",
    "diagonal_of", "dot_cases", "dot_cost", "dot_eager", "dot_inputs", "dot_reference", "dot_tolerance",
    "far_gemm_cases", "fill_padding", "gemm_cases", "gemm_cost", "gemm_eager", "gemm_inputs", "gemm_reference",
    "gemm_tolerance", "gemv_cases", "gemv_cost", "gemv_eager", "gemv_inputs", "gemv_reference", "gemv_tolerance",
    "ger_cases", "ger_cost", "ger_eager", "ger_inputs", "ger_reference", "ger_tolerance", "half_gemm_tolerance",
    "in_triangle", "is_forward", "matrix_buffer", "matrix_of", "operand_of", "parts_of", "placed", "pointer_gemm_cases",
    "pointer_gemm_eager", "pointer_gemm_inputs", "pointer_gemm_reference", "pointer_gemv_cases", "pointer_gemv_eager",
    "pointer_gemv_inputs", "pointer_gemv_reference", "pointer_trsm_eager", "pointer_trsm_inputs",
    "pointer_trsm_reference", "scalar_of", "scalar_parameter", "scaled_or_zero", "scattered_vector", "solve_cost",
    "solve_tolerance", "solved", "solved_from", "special_lines", "strided_gemm_cases", "strided_gemm_eager",
    "strided_gemm_inputs", "strided_gemm_reference", "strided_gemv_cases", "strided_gemv_eager", "strided_gemv_inputs",
    "strided_gemv_reference", "symmetric_buffer", "symmetric_of", "syrk_cases", "syrk_cost", "syrk_eager",
    "syrk_inputs", "syrk_reference", "syrk_tolerance", "transformed", "triangular_buffer", "triangular_of",
    "trsm_buffers", "trsm_cases", "trsm_eager", "trsm_reference", "vector_buffer", "vector_of", "vector_span",
    "vector_table", "widened", "write_vector",
]  # fmt: skip
