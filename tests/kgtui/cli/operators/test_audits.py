"""Audits of suites' tasks by engines, here without processes, and what is kept of them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

from engine.errors import UnsupportedError
from engine.model import ProblemId
from engine.model.problems.health import Defect, Weakness
from kgtui.cli.operators.audits import Health, audit_tasks
from problems.audits import audits_beside
from problems.index import open_index
from problems.suites.settings import SuiteChoice
from problems.suites.source import suite_at

SAMPLE = Path(__file__).parents[3] / "problems" / "samples" / "kernelbench"
SOFTMAX, PRETRAINED = "kernelbench::level1/23_Softmax", "kernelbench::level4/1_pretrained_model"
WEAK = Weakness(defect=Defect.ZEROS_PASS, text="zeros pass in every case")
LOOSE = Weakness(defect=Defect.LOOSE_OWN_RULE, text="zeros pass the suite's own rule")


def suite(cap=16):
    return suite_at(SAMPLE, choice=SuiteChoice(path=SAMPLE, format="", cap=cap))


def test_task_without_audit_gives_reason_and_rest_continues():
    class Engine:
        async def audit(self, problem):
            if problem.name == SOFTMAX:
                raise UnsupportedError("too large")
            return (WEAK,)

    @asynccontextmanager
    async def make_engine():
        yield Engine()

    found = {}
    names = [SOFTMAX, PRETRAINED, "kernelbench::level2/2_Two_weights"]
    problems = [suite().problem(name) for name in names]
    asyncio.run(audit_tasks(problems, jobs=2, make_engine=make_engine, on_health=found.__setitem__))
    assert found[SOFTMAX].error == "too large"
    assert found[PRETRAINED].error.startswith("cannot be run: its reference downloads")
    assert (found[names[2]].weaknesses, found[names[2]].error) == ((WEAK,), "")


def test_no_verdict_depends_on_suites_own_rule():
    assert Health(version="1", weaknesses=(LOOSE, WEAK)).deciding == (WEAK.text,)


def test_audited_task_marked_under_its_sizes_only(tmp_path):
    cache = tmp_path / "descriptions"
    problem = suite().problem(SOFTMAX)
    audits_beside(cache).add({ProblemId(source=suite().id, name=SOFTMAX, version=problem.version): (WEAK.text,)})
    index = open_index(suites=(suite(),), cache=cache)
    assert (index.weakness(SOFTMAX), index.find(SOFTMAX).weakness) == (WEAK.text, WEAK.text)
    assert index.describe(SOFTMAX).weakness == WEAK.text
    assert [one.name for one in index.descriptions()[0] if one.weakness] == [SOFTMAX]
    assert open_index(suites=(suite(cap=32),), cache=cache).weakness(SOFTMAX) == ""
    assert index.is_foreign(SOFTMAX) and not index.is_foreign("aten::silu")
