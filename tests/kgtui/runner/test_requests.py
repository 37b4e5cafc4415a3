"""The candidate of a run's request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.model import CandidateForm, Case, DType, SuiteOrigin, Tier
from kgtui.ports.requests import RunRequest
from tests.engine.toy_problem import toy_problem


def test_candidate_of_suite_has_modules_of_its_task() -> None:
    modules = (("task.py", "input_t = object"),)
    origin = SuiteOrigin(suite="gpumode", form=CandidateForm.SUBMISSION, own_rule="none", modules=modules)
    own = toy_problem(Case(name="a", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}))
    request = RunRequest(problem=own, path=Path("/k.py"), content=b"", device="cpu", target=None)
    assert request.candidate.modules == ()
    assert replace(request, problem=replace(own, suite=origin)).candidate.modules == modules
