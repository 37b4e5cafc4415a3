"""An operator whose answers are equal to the bit rejects an answer that turns -0.0 into 0.0."""

from __future__ import annotations

import pytest
import torch

from problems.rules.trial import Trial
from tests.operators import NAMES, definition, described

NUMBERS_OF_THEIR_OWN = {"aten::new_ones", "aten::ones_like", "aten::zero_", "aten::zeros", "aten::zeros_like"}
"""Operators whose answers are numbers that the call does not choose."""
CODES = {"vllm::cp_gather_indexer_k_quant_cache"}
"""Operators whose floating-point answers are positive scales."""


OPEN = (
    "amin", "fill_", "fmax", "full", "heaviside", "neg", "resolve_conj", "resolve_neg", "scalar_tensor", "sgn",
)  # fmt: skip
"""Operators whose contract leaves the sign of a zero open."""


def unsigned(output: torch.Tensor) -> torch.Tensor:
    if output.is_complex():
        parts = torch.view_as_real(output.resolve_conj().resolve_neg())
        return torch.view_as_complex(unsigned(parts).contiguous())
    if not output.dtype.is_floating_point:
        return output
    wide = output.double()
    return torch.where(wide == 0, 0.0, wide).to(output.dtype)


def signed_trial(name: str) -> Trial | None:
    problem = definition(name)
    is_signed = any(problem.tolerance(case).signed_zeros for case in problem.cases)
    return Trial(problem, described(name)) if is_signed and problem.compare is None else None


@pytest.mark.parametrize("name", NAMES)
def test_lost_sign_of_zero_is_rejected(name: str) -> None:
    trial = signed_trial(name)
    if trial is None:
        return
    rejected = has_floats = False
    for case in trial.cases:
        if not trial.problem.tolerance(case).signed_zeros:
            continue
        expected = trial.expected(case)
        has_floats |= any(output.dtype.is_floating_point or output.is_complex() for output in expected)
        rejected |= not trial.accepts(case, tuple(map(unsigned, expected)))
    assert rejected is (has_floats and name not in NUMBERS_OF_THEIR_OWN | CODES)


@pytest.mark.parametrize("name", OPEN)
def test_operator_with_open_zeros_accepts_both_signs(name: str) -> None:
    trial = Trial(definition(f"aten::{name}"), described(f"aten::{name}"))
    assert not any(trial.problem.tolerance(case).signed_zeros for case in trial.cases)
    for case in trial.cases:
        assert trial.accepts(case, tuple(map(unsigned, trial.expected(case))))
