"""Looking back: pages both ways, every filter, totals, and the way of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.model import Outcome, Policy
from sessions import Result, RunFilter
from sessions.rows import VARIANT_TAG
from tests.generated import Generation, add_generation


def numbers(found):
    return [listed.run.id for listed in found]


class TestPages:
    def test_pages_go_from_the_newest_run_down(self, store, judge):
        for _ in range(5):
            judge()
        first = store.page(limit=2)
        assert numbers(first) == [5, 4]
        assert numbers(store.page(before_id=4, limit=2)) == [3, 2]
        assert numbers(store.page(before_id=2, limit=2)) == [1]
        assert numbers(store.page(before_id=1, limit=2)) == []

    def test_page_above_holds_next_runs_newest_first(self, store, judge):
        for _ in range(5):
            judge()
        assert numbers(store.page(after_id=2, limit=2)) == [4, 3]

    def test_last_page_is_oldest_runs(self, store, judge):
        for _ in range(5):
            judge()
        assert numbers(store.page(after_id=0, limit=2)) == [2, 1]

    def test_speedup_is_listed_for_passing_unflagged_run_only(self, store, time):
        time()
        time(flagged=True)
        time(outcome=Outcome.WRONG_VALUE)
        speedups = [listed.speedup and listed.speedup.value for listed in store.page()]
        assert speedups == [None, None, 2.0]

    def test_best_speedup_ignores_failed_and_flagged_runs(self, store, time):
        time(outcome=Outcome.WRONG_VALUE)
        time(flagged=True)
        assert [one.best_speedup for one in store.last_by_problem().values()] == [None]
        time()
        assert [one.best_speedup for one in store.last_by_problem().values()] == [2.0]


class TestFilters:
    @pytest.fixture(autouse=True)
    def runs(self, store, judge, time, begin):
        judge(problem="aten::softmax", path=Path("/k/softmax_v1.py"), source=b"1")
        judge(Outcome.WRONG_VALUE, problem="aten::layer_norm", path=Path("/k/norm%.py"), source=b"2")
        time(path=Path("/k/softmax_v2.py"), source=b"3", flagged=True)
        begin(problem="vllm::rope", path=None, source=b"4")
        store.set_tag(1, "keep")
        store.set_note(2, "a Tail [mask] bug")

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (RunFilter(operator="SOFT"), [3, 1]),
            (RunFilter(file="softmax_v"), [3, 1]),
            (RunFilter(file="%"), [2]),
            (RunFilter(file="softmaxxv"), []),
            (RunFilter(device="gpu"), [3]),
            (RunFilter(device="cpu"), [4, 2, 1]),
            (RunFilter(tag="keep"), [1]),
            (RunFilter(outcome=Outcome.WRONG_VALUE), [2]),
            (RunFilter(result=Result.PASSED), [1]),
            (RunFilter(result=Result.FAILED), [2]),
            (RunFilter(result=Result.FLAGGED), [3]),
            (RunFilter(result=Result.UNFINISHED), [4]),
            (RunFilter(text="tail bug"), [2]),
            (RunFilter(text="bug softmax"), []),
            (RunFilter(text="[mask]"), [2]),
            (RunFilter(operator="softmax", result=Result.PASSED), [1]),
            (RunFilter(session=2), []),
        ],
        ids=str,
    )
    def test_filter_returns_matching_runs(self, store, wanted, found):
        assert numbers(store.page(wanted)) == found
        assert store.totals(wanted).runs == len(found)

    def test_an_underscore_is_an_underscore(self, store):
        assert numbers(store.page(RunFilter(file="softmax_v1"))) == [1]
        assert numbers(store.page(RunFilter(operator="layer?norm"))) == []


def answer(source: bytes | None, *, cost: int | None = 1000, problem: str = "aten::softmax") -> Generation:
    return Generation(
        problem=problem,
        provider="p",
        model="m",
        prompt_tokens=10,
        completion_tokens=20,
        cost_microusd=cost,
        source=source,
        elapsed_s=1.0,
    )


class TestTotals:
    def test_totals_count_timed_runs_and_answer_costs(self, store, session_id, judge):
        judge(source=b"a")
        judge(Outcome.WRONG_VALUE, source=b"b")
        judge(flagged=True, source=b"c")
        add_generation(store, session_id, answer(b"a"))
        add_generation(store, session_id, answer(None))
        totals = store.totals()
        assert (totals.runs, totals.sessions, totals.passed, totals.flagged) == (3, 1, 1, 1)
        assert totals.elapsed_s == pytest.approx(3 * 1.25)
        assert (totals.prompt_tokens, totals.completion_tokens, totals.cost_microusd) == (20, 40, 2000)

    def test_filtered_totals_count_each_answer_once(self, store, session_id, judge):
        judge(source=b"a")
        judge(source=b"a")
        judge(Outcome.WRONG_VALUE, source=b"b")
        add_generation(store, session_id, answer(b"a"))
        add_generation(store, session_id, answer(b"b", cost=5))
        assert store.totals(RunFilter(result=Result.PASSED)).cost_microusd == 1000

    def test_unknown_price_gives_no_cost(self, store, session_id):
        add_generation(store, session_id, answer(None, cost=None))
        assert (store.totals().cost_microusd, store.totals().unpriced) == (None, 1)
        add_generation(store, session_id, answer(None, cost=5))
        assert (store.totals().cost_microusd, store.totals().unpriced) == (5, 1)
        (session,) = store.sessions()
        assert (session.cost_microusd, session.unpriced) == (5, 1)

    def test_totals_of_no_runs_are_zero(self, store):
        totals = store.totals(RunFilter(text="nowhere"))
        assert (totals.runs, totals.elapsed_s, totals.prompt_tokens, totals.cost_microusd) == (0, 0, 0, None)

    def test_session_states_duration_of_its_runs(self, store, judge):
        judge()
        judge()
        assert store.sessions()[0].elapsed_s == pytest.approx(2.5)


class TestSessionPages:
    def test_sessions_are_paged_both_ways(self, store):
        for number in range(4):
            store.begin_session(f"{number}")
        assert [row.id for row in store.sessions(limit=2)] == [4, 3]
        assert [row.id for row in store.sessions(before_id=3, limit=2)] == [2, 1]
        assert [row.id for row in store.sessions(after_id=1, limit=2)] == [3, 2]


class TestMilestones:
    def test_milestones_of_file_are_oldest_first(self, store, time, reported, judge):
        time(reported.case(), reported.summary(1.5))
        judge(path=Path("/other.py"))
        time(outcome=Outcome.WRONG_VALUE)
        time(reported.case(), reported.summary(2.5), flagged=True)
        time(reported.case(), reported.summary(2.0))
        assert [(one.run_id, one.right, one.speedup) for one in store.milestones(1)] == [
            (1, True, 1.5),
            (3, False, None),
            (4, False, None),
            (5, True, 2.0),
        ]

    def test_milestones_are_separate_per_device(self, store, time):
        time()
        time(device_name="Another GPU")
        assert [one.run_id for one in store.milestones(2)] == [2]

    def test_mean_over_some_cases_is_not_speedup(self, store, time, reported):
        time(reported.case(), reported.summary(cases=1, planned=2))
        assert [(one.right, one.speedup, one.timed) for one in store.milestones(1)] == [(True, None, None)]

    def test_run_without_policy_is_never_best(self, store, time):
        time(policy=Policy.FACTS_ONLY)
        assert [(one.right, one.speedup) for one in store.milestones(1)] == [(False, None)]

    def test_variant_is_not_in_file_progress(self, store, time, reported):
        time(reported.case(), reported.summary(1.5))
        store.set_tag(time(reported.case(), reported.summary(9.0)), VARIANT_TAG)
        time(reported.case(), reported.summary(2.0))
        assert [(one.run_id, one.speedup) for one in store.milestones(2)] == [(1, 1.5), (3, 2.0)]

    def test_only_newest_runs_are_queried(self, store, judge):
        for _ in range(4):
            judge()
        assert [one.run_id for one in store.milestones(4, limit=2)] == [3, 4]

    def test_missing_run_has_no_progress(self, store):
        with pytest.raises(UsageError, match="there is no run #7"):
            store.milestones(7)


class TestTheAnswerThatARunCameFrom:
    def test_run_of_model_text_has_model_tokens_price(self, store, session_id, judge):
        add_generation(store, session_id, answer(b"a", cost=250))
        found = store.answer(judge(source=b"a"))
        assert (found.provider, found.model, found.cost_microusd) == ("p", "m", 250)

    def test_run_of_own_text_has_no_model(self, store, session_id, judge):
        add_generation(store, session_id, answer(b"a"))
        assert store.answer(judge(source=b"b")) is None

    def test_answer_of_own_session_precedes_newer_other(self, store, session_id, judge):
        run = judge(source=b"a")
        add_generation(store, session_id, answer(b"a", cost=1))
        add_generation(store, session_id, answer(b"a", cost=2))
        add_generation(store, store.begin_session("another"), answer(b"a", cost=3))
        assert store.answer(run).cost_microusd == 2

    def test_same_text_for_other_operator_is_other_answer(self, store, session_id, judge):
        add_generation(store, session_id, answer(b"a", problem="vllm::rope"))
        assert store.answer(judge(source=b"a")) is None

    def test_missing_run_has_no_answer(self, store):
        with pytest.raises(UsageError, match="there is no run #3"):
            store.answer(3)
