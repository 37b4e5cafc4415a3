"""Triangular matrices of cases can be solved with, whatever is not read of them."""

from __future__ import annotations

import pytest
import torch

from engine.model import Case, DType, Tier
from problems.kit.blas import matrix_of, solved, triangular_buffer, triangular_of, widened


def case_of(uplo: str, diag: str, values: str = "normal") -> Case:
    params = {"uplo": uplo, "diag": diag, "padding": 2, "values": values}
    return Case(name="one", dtype=DType.FLOAT32, tier=Tier.FULL, params=params)


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("diag", ["N", "U"])
@pytest.mark.parametrize("n", [17, 129, 512])
def test_the_matrices_are_well_conditioned(uplo: str, diag: str, n: int) -> None:
    buffer, leading, _ = triangular_buffer(case_of(uplo, diag), n, torch.Generator().manual_seed(3))
    whole = triangular_of(widened(matrix_of(buffer, leading, n, n)[0]), uplo, diag)
    assert torch.linalg.cond(whole) < 20


@pytest.mark.parametrize(
    ("uplo", "trans", "diag"), [("L", "N", "N"), ("U", "T", "U"), ("L", "T", "U"), ("U", "N", "N")]
)
def test_a_solution_reads_one_triangle_alone(uplo: str, trans: str, diag: str) -> None:
    buffer, leading, _ = triangular_buffer(case_of(uplo, diag, "unread nan"), 9, torch.Generator().manual_seed(3))
    right = torch.ones((9, 2), dtype=torch.float64)
    matrix = widened(matrix_of(buffer, leading, 9, 9)[0])
    solution = solved(matrix, uplo, trans, diag, right)
    whole = triangular_of(matrix, uplo, diag)
    assert torch.allclose((whole if trans == "N" else whole.T) @ solution, right)
