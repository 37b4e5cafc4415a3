"""Variants of a file that were tuned are runs like others, but none of the file: they are never its last or its best.

What is written to the file is judged again, and that run counts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model import BenchmarkPlan, CacheState, Case, DType, Outcome, Tier
from sessions import RunFilter
from sessions.rows import VARIANT_TAG

FILE = Path("/home/user/softmax.py")


@pytest.fixture
def tried(store, time, reported):
    """Judge a variant of the file, much faster than the file ever was."""

    def judged(speedup: float = 9.0, **how: object) -> int:
        number = time(reported.case(), reported.summary(speedup), **how)
        store.set_tag(number, VARIANT_TAG)
        return number

    return judged


def test_last_run_of_operator_excludes_variants(store, judge, tried):
    own = judge(Outcome.WRONG_VALUE)
    tried()
    summary = store.last_by_problem()["aten::softmax"]
    assert (summary.last.id, summary.best_id, summary.runs) == (own, None, 1)


def test_operator_with_variants_only_has_no_verdict(store, tried):
    tried()
    assert store.last_by_problem() == {}


def test_best_of_operator_excludes_variants(store, time, tried):
    own = time()
    tried()
    assert (store.best("aten::softmax").id, store.last_by_problem()["aten::softmax"].best_id) == (own, own)


def test_fastest_of_file_excludes_unwritten_variants(store, time, reported, tried):
    case = Case(name="4096x4096 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
    plan = BenchmarkPlan(cases=(case,), cache=CacheState.COLD, baselines=("eager",))

    def fastest() -> tuple[int, float]:
        best = store.best_benchmark("aten::softmax", path=FILE, device_name="A GPU", benchmark=plan, baseline="eager")
        return best.run.id, best.summary.speedup.value

    own = time(reported.case(), reported.summary(2.0))
    tried(9.0)
    assert fastest() == (own, 2.0)
    written = time(reported.case(), reported.summary(8.5))
    assert fastest() == (written, 8.5)


def test_variant_does_not_answer_for_its_file(store, judge, find):
    variant = judge(source=b"BLOCK = 64")
    store.set_tag(variant, VARIANT_TAG)
    assert find(variant) is None
    own = judge(source=b"BLOCK = 64")
    assert find(own) == own


def test_failed_cases_of_variant_are_not_of_file(store, judge):
    judge(Outcome.WRONG_VALUE, cases={"a": Outcome.PASS, "b": Outcome.WRONG_VALUE})
    store.set_tag(judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE, "b": Outcome.PASS}), VARIANT_TAG)
    assert store.failed_cases("aten::softmax", path=FILE) == ("b",)


def test_file_is_as_recent_as_its_variants(store, judge, tried):
    own = judge()
    other = judge(path=Path("/other.py"))
    tried()
    only = tried(path=Path("/tuned.py"))
    recent = [(file.path, file.run.id) for file in store.recent_files()]
    assert recent == [(Path("/tuned.py"), only), (FILE, own), (Path("/other.py"), other)]


def test_variant_is_listed_and_found_by_tag(store, judge, tried):
    own, variant = judge(), tried()
    assert [run.id for run in store.runs()] == [variant, own]
    assert [run.id for run in store.runs(RunFilter(tag=VARIANT_TAG))] == [variant]
