"""Every problem of the catalogue keeps the rules of problems/rules, in one pass that shares its tensors."""

from __future__ import annotations

import re

import pytest
import torch

from engine.model import DType
from problems.catalogue import Catalogue
from problems.function_docs import docstring_of
from problems.rules.answers import LEAST_MARGIN, least_margin
from problems.rules.check import complaints
from problems.rules.trial import Trial
from tests.operators import NAMES
from tests.problems.expected_names import EXPECTED

NARROW_MARGINS = {
    "cublas::cublasHgemmBatched": "a sum beside the middle between two float16 numbers is rounded to the other one",
}
"""Problems whose eager answer takes more than a third of the tolerance on some processors, and why."""


@pytest.mark.sampled(group=lambda name: name.partition("::")[0])
@pytest.mark.parametrize("name", NAMES)
def test_problem_keeps_every_rule(name: str) -> None:
    catalogue = Catalogue()
    found = complaints(catalogue.load(name), catalogue.describe(name))
    breaches = [(one.rule, one.text) for one in found if one.rule != "margin" or name not in NARROW_MARGINS]
    assert breaches == []


@pytest.mark.parametrize("name", NARROW_MARGINS)
def test_narrow_margin_is_above_the_stated_one(name: str) -> None:
    catalogue = Catalogue()
    described = catalogue.describe(name)
    text = docstring_of(described.file, described.functions["tolerance"])
    stated = re.search(r"eager takes up to 1 / (\d+) of it", text)
    least = least_margin(Trial(catalogue.load(name), described))
    assert stated is not None and least is not None
    assert 1 < int(stated[1]) < LEAST_MARGIN == 3.0
    assert least[0] > int(stated[1])


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
