"""Every problem of the catalogue keeps the rules of problems/rules, in one pass that shares its tensors."""

from __future__ import annotations

import pytest
import torch

from engine.model import DType
from problems.catalogue import Catalogue
from problems.rules.check import complaints
from problems.rules.trial import Trial
from tests.operators import NAMES
from tests.problems.expected_names import EXPECTED


@pytest.mark.sampled(group=lambda name: name.partition("::")[0])
@pytest.mark.parametrize("name", NAMES)
def test_problem_keeps_every_rule(name: str) -> None:
    catalogue = Catalogue()
    found = complaints(catalogue.load(name), catalogue.describe(name))
    assert [(one.rule, one.text) for one in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_signature_annotates_the_returned_values(name: str) -> None:
    problem = Catalogue().load(name)
    annotation = problem.signature.rpartition("->")[2].strip()
    match problem.returns:
        case 0:
            assert annotation == "None"
        case 1:
            assert annotation in ("Tensor", "complex")
        case None:
            assert annotation in ("list[Tensor]", "tuple[Tensor, ...]")
        case count:
            assert annotation == f"tuple[{', '.join(['Tensor'] * count)}]"


def test_catalogue_has_every_expected_operator_and_no_other() -> None:
    assert set(NAMES) == EXPECTED


@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_half_precision_sums_are_rejected_in_both_types(name: str) -> None:
    catalogue = Catalogue()
    trial = Trial(catalogue.load(f"aten::{name}"), catalogue.describe(f"aten::{name}"))
    for dtype in (DType.FLOAT16, DType.BFLOAT16):
        detours = [one for one in trial.cases if one.dtype is dtype and one.params.get("values") == "detour"]
        for case in detours:
            x, wanted = trial.given(case)[0], trial.expected(case)[0]
            assert isinstance(x, torch.Tensor)
            running, steps = torch.zeros_like(x[:, 0]), []
            for column in x.unbind(1):
                running = running + column
                steps.append(running)
            answer = running if name == "sum" else torch.stack(steps, 1)
            assert not trial.accepts(case, (answer.to(wanted.dtype),))
        assert detours != []
