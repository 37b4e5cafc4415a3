"""Planted defects of a problem, each found by its audit; a healthy problem has none."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.model import CandidateForm, DType, SuiteOrigin, Tier, Tolerance
from engine.model.problems.health import Defect
from problems.aten import silu
from problems.rules.health import weaknesses

SMOKE = tuple(case for case in silu.CASES if case.tier is Tier.SMOKE)
HEALTHY = replace(silu.PROBLEM, cases=SMOKE)


def found(**changes):
    problem = replace(HEALTHY, **changes)
    return {one.defect: one.text for one in weaknesses(problem, None)}


def both(function):
    """A problem that computes this, in its reference and in eager."""
    return found(reference=function, eager=function)


def test_sound_problem_has_no_defect():
    assert found() == {}


def test_a_reference_that_fails_is_named_alone():
    def fails(x):
        raise RuntimeError("no such kernel")

    assert found(reference=fails) == {
        Defect.REFERENCE_FAILS: f"{SMOKE[0].name}: the reference raised RuntimeError: no such kernel"
    }


def test_an_unseeded_reference_is_found():
    assert Defect.UNSEEDED in both(lambda x: x + torch.rand_like(x))


def test_unseeded_inputs_are_found():
    shaped = silu.make_inputs

    def unseeded(case, rng):
        return tuple(torch.randn_like(x) for x in shaped(case, rng))

    assert "the same seed gives different inputs" in found(make_inputs=unseeded)[Defect.UNSEEDED]


def test_outputs_that_ignore_the_inputs_are_found():
    def ramp(x):
        return torch.linspace(1, 2, x.numel(), dtype=x.dtype).reshape(x.shape)

    assert set(both(ramp)) == {Defect.INPUT_INDEPENDENT, Defect.LOOSE}


@pytest.mark.parametrize(
    ("function", "defect"), [(torch.zeros_like, Defect.ALL_ZERO), (torch.ones_like, Defect.CONSTANT)]
)
def test_outputs_of_one_number_are_found(function, defect):
    assert defect in both(function)


def test_a_tolerance_that_zeros_pass_is_found():
    wide = found(tolerance=lambda case: Tolerance(relative=0.0, absolute=1e6))
    assert wide[Defect.ZEROS_PASS] == "zeros pass in every case"
    assert Defect.LOOSE in wide


def test_a_spread_below_the_tolerance_is_found():
    flat = found(
        reference=lambda x: 1000 + x.sigmoid(),
        eager=lambda x: 1000 + x.sigmoid(),
        tolerance=lambda case: Tolerance(relative=1e-2, absolute=0.0),
    )
    assert Defect.SMALL_SPREAD in flat
    assert Defect.ZEROS_PASS not in flat


def test_an_unreachable_threshold_is_found():
    exact = found(tolerance=lambda case: Tolerance(relative=0.0, absolute=1e-12))
    assert "the answer of PyTorch does not pass" in exact[Defect.UNREACHABLE]


def test_declared_defect_is_not_reported():
    declared = dict.fromkeys(("zeros", "mean", "answer_to_other_inputs", "bfloat16_arithmetic"), "by its nature")
    assert both(torch.zeros_like).keys() - found(
        reference=torch.zeros_like, eager=torch.zeros_like, cannot_reject=declared
    ).keys() == {Defect.ALL_ZERO, Defect.ZEROS_PASS, Defect.INPUT_INDEPENDENT, Defect.SMALL_SPREAD, Defect.LOOSE}


def test_flags_that_rounding_keeps_are_no_loose_threshold():
    def flags(x):
        return x > 0

    float32 = tuple(case for case in SMOKE if case.dtype is DType.FLOAT32)
    origin = SuiteOrigin(suite="S", form=CandidateForm.FUNCTION, own_rule="none")
    assert Defect.LOOSE not in found(reference=flags, eager=flags, cases=float32, suite=origin)


@pytest.mark.parametrize(("suite", "defects"), [(None, {Defect.LOOSE}), ("S", set())], ids=["ours", "suite"])
def test_rounded_inputs_give_no_loose_threshold(suite, defects):
    def rounded(case, rng):
        return tuple(x.bfloat16().to(x.dtype) for x in silu.make_inputs(case, rng))

    float32 = tuple(case for case in SMOKE if case.dtype is DType.FLOAT32)
    origin = SuiteOrigin(suite=suite, form=CandidateForm.FUNCTION, own_rule="none") if suite else None

    assert set(found(make_inputs=rounded, cases=float32, suite=origin)) == defects
