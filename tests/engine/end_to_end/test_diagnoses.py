"""What the judge says first of the known mistakes of the corpus."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Candidate, DiagnosisKind, Limits, Outcome, Plan, Tier
from engine.model.events import CaseFinished
from tests.candidates import DRAW_SEED, candidates, stated
from tests.operators import find

pytestmark = pytest.mark.asyncio(loop_scope="session")
LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)

NONE = "none"
"""No hypothesis describes it: an order of statements within a program, a sum over parts of tiles, a write elsewhere."""
NOT_REACHED = "not_reached"
"""Wrong on a device that does not know where a tensor ends; the interpreter stops before there is a value."""
STATISTIC = "statistic"
"""Random numbers that a statistic rejects: no element is wrong by itself."""
WORDS = {kind.value for kind in DiagnosisKind} | {NONE, NOT_REACHED, STATISTIC}
DIAGNOSED = [path for path in candidates("wrong") if stated(path).diagnosis not in (None, NOT_REACHED, STATISTIC)]


async def test_every_file_with_wrong_values_states_a_diagnosis():
    facts = {path.stem: stated(path) for path in candidates("wrong")}
    wrong = {name for name, one in facts.items() if {"wrong_value", "nonfinite"} & one.expect}
    assert wrong - {name for name, one in facts.items() if one.diagnosis in WORDS} == set()
    assert {path.stem for path in DIAGNOSED if stated(path).case is None} == set()


@pytest.mark.sampled
@pytest.mark.parametrize("path", DIAGNOSED, ids=lambda path: path.stem)
async def test_first_symptom_of_wrong_output_is_the_mistake(engine, path):
    found = await _first_words(engine, path)
    assert (NONE if found is None else found.value) == stated(path).diagnosis


async def _first_words(engine, path: Path) -> DiagnosisKind | None:
    """The kind of the first diagnosis of the first wrong output of the case that the file names."""
    problem = find(stated(path).op)
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=LIMITS)
    candidate = Candidate(source=path.read_bytes(), problem=problem.name, filename=path.name, folder=None)
    events = engine.evaluate(candidate, replace(plan, cases=(problem.case(stated(path).case),), draw_seed=DRAW_SEED))
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, CaseFinished):
                outputs = event.result.outputs
                wrong = next(report for report in outputs if report.outcome is not Outcome.PASS)
                assert wrong.explanation is not None
                assert wrong.explanation.untried == ""
                return wrong.explanation.diagnoses[0].kind if wrong.explanation.diagnoses else None
    raise AssertionError("the run ended without judging the case")
