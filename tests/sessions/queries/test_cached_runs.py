"""Stored runs that answer a request: cached verdicts, failed cases and the best times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Finding, Outcome, Policy, Severity, Tier
from engine.model.events import FindingRaised, LayerChecked
from engine.model.layers import Coverage, Layer, LayerReport
from tests.sessions.queries.expected import TWO_PASSED


class TestCached:
    def test_the_newest_finished_run_answers(self, judge, find):
        judge()
        newest = judge(Outcome.WRONG_VALUE)
        assert find(newest) == newest

    @pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED])
    def test_run_without_candidate_verdict_does_not_answer(self, judge, find, outcome):
        assert find(judge(outcome)) is None

    def test_run_without_verdict_does_not_answer(self, begin, find):
        assert find(begin()) is None

    @pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY])
    def test_run_of_ended_process_answers_nothing(self, judge, find, outcome):
        assert find(judge(outcome)) is None
        assert find(judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE, "b": outcome})) is None

    @pytest.mark.parametrize(
        ("coverage", "device", "answers"),
        [
            (Coverage.CHECKED, "cpu", True),
            (Coverage.NOT_CHECKED, "cpu", False),
            (Coverage.ENGINE_FAILED, "cpu", False),
            (Coverage.NOT_ASKED, "cpu", True),
            (Coverage.NOT_AVAILABLE, "cpu", True),
            (Coverage.NOT_AVAILABLE, "cuda", False),
        ],
    )
    def test_run_answers_only_where_each_layer_was_checked(
        self, store, begin, find, whole_run, coverage, device, answers
    ):
        why = "" if coverage is Coverage.CHECKED else "the judge died"
        report = LayerReport(layer=Layer.BEHAVIOUR, by="repeats", coverage=coverage, why=why)
        run_id = begin(device=device)
        for event in (replace(whole_run[0], device=device), LayerChecked(at_s=1.0, report=report), whole_run[-1]):
            store.record(run_id, event)
        assert (find(run_id, device=device) == run_id) is answers

    @pytest.mark.parametrize("outcome", [Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR])
    def test_run_with_a_kernel_not_compiled_answers_nothing(self, store, begin, find, whole_run, outcome):
        run_id = begin()
        kernel = replace(whole_run[8].kernel, outcome=outcome)
        for event in (whole_run[0], replace(whole_run[8], kernel=kernel), whole_run[-1]):
            store.record(run_id, event)
        assert find(run_id) is None

    def test_run_with_machine_note_answers_nothing(self, store, begin, find, whole_run):
        note = Finding(check="offline_compile", severity=Severity.NOTE, message="could not check that k builds")
        run_id = begin()
        for event in (whole_run[0], FindingRaised(at_s=1.0, finding=note), whole_run[-1]):
            store.record(run_id, event)
        assert find(run_id) is None

    def test_run_with_given_seed_answers_nothing(self, store, begin, find, whole_run):
        for is_given in (True, False):
            run_id = begin()
            store.record_all(run_id, (*whole_run[:-1], replace(whole_run[-1], draw_seed=7, seed_given=is_given)))
            assert (find(run_id) == run_id) is not is_given

    def test_verdict_of_another_policy_does_not_answer(self, time, find):
        strict = time(policy=Policy.STRICT)
        assert find(strict, device="cuda") is None
        assert find(strict, device="cuda", policy=Policy.STRICT) == strict
        usual = time()
        time(policy=Policy.FACTS_ONLY)
        assert find(strict, device="cuda") == usual
        assert find(strict, device="cuda", policy=Policy.STRICT) == strict

    @pytest.mark.parametrize(
        "changed",
        [
            {"problem": "aten::add"},
            {"device": "cuda:0"},
            {"target": None},
            {"target": "gfx942"},
            {"tiers": (Tier.SMOKE, Tier.FULL)},
        ],
    )
    def test_changed_request_is_not_answered(self, judge, find, changed):
        assert find(judge(), **changed) is None

    def test_no_target_matches_no_target(self, judge, find):
        run_id = judge(target=None)
        assert find(run_id, target=None) == run_id

    def test_run_of_selected_cases_answers_nothing(self, judge, find):
        assert find(judge(tiers=()), tiers=()) is None

    def test_another_session_with_the_same_environment_answers(self, store, judge, find):
        run_id = judge()
        same = store.begin_session("later", environment={"torch": "2.13.0", "triton": "3.9.0"})
        assert find(run_id, session=same) == run_id

    @pytest.mark.parametrize(
        "environment",
        [
            {"torch": "2.13.0"},
            {"torch": "2.13.0", "triton": "3.6.0"},
            {"torch": "2.13.0", "triton": "3.9.0", "driver": "1"},
        ],
    )
    def test_run_in_other_environment_does_not_answer(self, store, judge, find, environment):
        assert find(judge(), session=store.begin_session("later", environment=environment)) is None


class TestFailedCases:
    FILE = Path("/home/user/softmax.py")

    def test_failed_cases_follow_newest_run(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"old": Outcome.WRONG_VALUE})
        judge(Outcome.WRONG_VALUE, cases={"z": Outcome.TIMEOUT, "b": Outcome.PASS, "a": Outcome.WRONG_VALUE})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("z", "a")

    def test_none_after_a_run_that_passed(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(cases={"a": Outcome.PASS})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ()

    def test_run_without_cases_keeps_earlier_failures(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.COMPILE_ERROR)
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("a",)

    def test_cancelled_run_keeps_earlier_failures(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.CANCELLED, cases={"b": Outcome.PASS})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("a",)

    def test_unsupported_case_is_not_failed(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.UNSUPPORTED, "b": Outcome.WRONG_VALUE})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("b",)

    def test_another_file_or_problem_has_its_own(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.WRONG_VALUE, cases={"n": Outcome.WRONG_VALUE}, path=None)
        assert store.failed_cases("aten::softmax", path=Path("/elsewhere.py")) == ()
        assert store.failed_cases("aten::add", path=self.FILE) == ()
        assert store.failed_cases("aten::softmax", path=None) == ("n",)


class TestBest:
    def test_no_best_run_before_first_pass(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases=TWO_PASSED)
        assert store.best("aten::softmax") is None

    def test_best_run_passed_most_cases_and_is_newest(self, store, judge):
        judge(cases=TWO_PASSED)
        wide = judge(cases=TWO_PASSED)
        judge(cases={"a": Outcome.PASS})
        assert store.best("aten::softmax").id == wide

    def test_run_without_policy_verdict_is_never_best(self, store, time):
        judged = time(policy=Policy.STRICT)
        time(policy=Policy.FACTS_ONLY)
        assert store.best("aten::softmax").id == judged
        assert store.last_by_problem()["aten::softmax"].best_id == judged

    def test_a_flagged_run_is_never_best(self, store, judge):
        honest = judge(cases={"a": Outcome.PASS})
        judge(cases=TWO_PASSED, flagged=True)
        assert store.best("aten::softmax").id == honest
