"""What a benchmark leaves in the tables, what answers an order that wants one, and what counts as the best."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from engine.model import BenchmarkPlan, CacheState, Case, DType, Outcome, Policy, Tier
from engine.model.benchmark import Method
from sessions.export import as_csv, as_json, as_markdown


class TestRecording:
    def test_timed_case_is_row_with_intervals_and_roofline(self, time, ask):
        time()
        columns = "run, seq, case_name, outcome, cache, method, device_us, device_us_low, device_us_high, call_us"
        assert ask(f"select {columns} from benchmarks") == [
            (1, 2, "4096x4096 f32", "pass", "cold", "cupti", 50.0, 45.0, pytest.approx(55.0), 51.0)
        ]
        assert ask("select graph_us, calls, verified, slots, floor_us, bound, percent_of_floor from benchmarks") == [
            (50.0, 40, 39, 7, 40.0, "memory", 80.0)
        ]

    def test_unmeasured_baseline_is_row_with_reason(self, time, reported, ask):
        time(reported.case(baselines={"eager": 100.0, "vllm": None}))
        columns = "baseline, method, device_us, call_us, speedup, resolution, standing, notes"
        assert ask(f"select {columns} from comparisons") == [
            ("eager", "cupti", 100.0, 101.0, 2.0, 0.01, "faster", ""),
            ("vllm", None, None, None, None, None, None, "not installed"),
        ]

    def test_failed_case_has_no_times(self, time, reported, ask):
        time(reported.case(outcome=Outcome.WRONG_VALUE), outcome=Outcome.WRONG_VALUE)
        columns = "outcome, message, method, device_us, call_us, graph_us, floor_us, percent_of_floor"
        assert ask(f"select {columns} from benchmarks") == [
            ("wrong_value", "3 elements are out of tolerance", *(None,) * 6)
        ]
        assert ask("select count(*) from comparisons") == [(0,)]

    def test_a_summary_is_a_row_for_each_baseline(self, time, reported, ask):
        time(reported.case(), reported.summary(1.5), reported.summary(1.25, baseline="compile"))
        assert ask("select baseline, speedup, cases, planned, fast from summaries order by baseline") == [
            ("compile", 1.25, 1, 1, '{"1.0":1,"2.0":0}'),
            ("eager", 1.5, 1, 1, '{"1.0":1,"2.0":0}'),
        ]

    def test_stored_events_equal_recorded_events(self, store, time, reported):
        events = (reported.case(), reported.summary())
        run_id = time(*events)
        assert tuple(store.events(run_id))[1:-1] == events
        record = store.run_record(run_id)
        assert record.benchmarks == (events[0].benchmark,)
        assert record.summaries == events[1].summaries


class TestBaselines:
    def test_newest_time_of_each_side_is_kept(self, store, time, reported, clock):
        time(reported.case(baselines={"eager": 100.0, "compile": 80.0}))
        clock.pass_time(hours=1)
        time(reported.case(baselines={"eager": 90.0}, at_s=1.5))
        newest, older = store.baselines("aten::softmax", device_name="A GPU")
        assert (newest.baseline, newest.device_us, newest.call_us, newest.run_id) == ("eager", 90.0, 91.0, 2)
        assert (newest.case, newest.cache, newest.method) == ("4096x4096 f32", CacheState.COLD, Method.CUPTI)
        assert newest.versions == "torch 2.13.0, triton 3.9.0"
        assert newest.measured_at.isoformat() == "2026-01-02T04:04:07.178000+00:00"
        assert (older.baseline, older.device_us, older.run_id) == ("compile", 80.0, 1)

    def test_baselines_differ_by_version_device_and_cache(self, store, time, reported):
        time()
        time(reported.case(cache=CacheState.WARM))
        time(session=store.begin_session("new", environment={"torch": "2.14.0", "device": "A GPU"}))
        time(device_name="Another GPU")
        found = store.baselines("aten::softmax", device_name="A GPU")
        assert sorted((row.versions, row.cache, row.run_id) for row in found) == [
            ("torch 2.13.0, triton 3.9.0", "cold", 1),
            ("torch 2.13.0, triton 3.9.0", "warm", 2),
            ("torch 2.14.0", "cold", 3),
        ]

    @pytest.mark.parametrize(
        ("outcome", "flagged"), [(Outcome.PASS, True), (Outcome.CHEATED, False), (Outcome.WRONG_VALUE, False)]
    )
    def test_candidate_possibly_slowing_baseline_leaves_none(self, store, time, outcome, flagged):
        time(outcome=outcome, flagged=flagged)
        assert store.baselines("aten::softmax", device_name="A GPU") == ()

    def test_candidate_without_policy_leaves_no_baseline(self, store, time):
        time(policy=Policy.FACTS_ONLY)
        assert store.baselines("aten::softmax", device_name="A GPU") == ()

    def test_a_run_that_was_cut_short_leaves_none(self, store, begin, reported):
        store.record(begin(), reported.case())
        assert store.baselines("aten::softmax", device_name="A GPU") == ()

    def test_unmeasured_baseline_keeps_the_older_one(self, store, time, reported):
        time(reported.case(baselines={"compile": 80.0}))
        time(reported.case(baselines={"compile": None}))
        assert [row.run_id for row in store.baselines("aten::softmax", device_name="A GPU")] == [1]


def plan(*names: str, cache: CacheState = CacheState.COLD, baselines: tuple[str, ...] = ("eager",)) -> BenchmarkPlan:
    cases = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.BENCH, params={}) for name in names)
    return BenchmarkPlan(cases=cases, cache=cache, baselines=baselines)


class TestBest:
    @pytest.fixture
    def best(self, store):
        def best_benchmark(benchmark=None, **changed):
            asked = {"path": Path("/home/user/softmax.py"), "device_name": "A GPU", "baseline": "eager", **changed}
            found = store.best_benchmark("aten::softmax", benchmark=benchmark or plan("4096x4096 f32"), **asked)
            return (found.run.id, found.summary.speedup.value) if found else None

        return best_benchmark

    def test_the_best_mean_and_the_newest_of_several(self, time, reported, best):
        time(reported.case(), reported.summary(2.0))
        time(reported.case(), reported.summary(2.5))
        time(reported.case(), reported.summary(2.5))
        assert best() == (3, 2.5)

    def test_a_mean_over_other_cases_is_not_compared(self, time, reported, best):
        time(reported.case(), reported.summary(9.0))
        time(reported.case(), reported.case("1x8 f32"), reported.summary(2.0, cases=2, planned=2))
        time(reported.case(), reported.case("1x8 f32"), reported.summary(3.0, cases=1, planned=2))
        assert best() == (1, 9.0)
        assert best(plan("4096x4096 f32", "1x8 f32")) == (2, 2.0)
        assert best(plan("1x8 f32")) is None

    @pytest.mark.parametrize(
        "how",
        [
            {"flagged": True},
            {"outcome": Outcome.WRONG_VALUE},
            {"outcome": Outcome.CHEATED, "flagged": True},
            {"policy": Policy.FACTS_ONLY},
        ],
    )
    def test_flagged_failed_or_unjudged_run_is_never_best(self, time, reported, best, how):
        time(reported.case(), reported.summary(9.0), **how)
        assert best() is None
        time(reported.case(), reported.summary(0.5))
        assert best() == (2, 0.5)

    def test_run_without_verdict_is_not_best(self, store, begin, reported, best):
        store.record_all(begin(), (reported.case(), reported.summary()))
        assert best() is None

    @pytest.mark.parametrize(
        "changed",
        [
            {"device_name": "Another GPU"},
            {"baseline": "compile"},
            {"path": Path("/home/user/other.py")},
            {"benchmark": plan("4096x4096 f32", cache=CacheState.WARM)},
        ],
    )
    def test_best_run_differs_by_device_baseline_file_cache(self, time, best, changed):
        time()
        assert best() == (1, 2.0)
        assert best(**changed) is None


class TestCached:
    @pytest.fixture
    def find_timed(self, find):
        return lambda wanted: find(1, device="cuda", benchmark=wanted)

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (plan("a", "b"), 1), (plan("b"), 1), (plan("a", baselines=()), 1), (plan("a", baselines=("vllm",)), 1),
            (plan("a", "b", "c"), None), (plan("a", cache=CacheState.WARM), None),
            (plan("a", cache=CacheState.WARM, baselines=()), None),
            (plan("a", baselines=("eager", "cublas")), None), (plan("b", baselines=("compile",)), None), (None, 1),
        ],
        ids=[
            "the same", "fewer cases", "no baseline", "one that cannot be had here", "more cases", "another cache",
            "another cache and no baseline",
            "another baseline", "a baseline of another case", "none",
        ],
    )  # fmt: skip
    def test_run_with_all_requested_times_answers(self, time, reported, find_timed, wanted, found):
        time(
            reported.case("a", baselines={"eager": 1.0, "compile": 1.0, "vllm": None}),
            reported.case("b", baselines={"eager": 1.0, "vllm": None}),
        )
        assert find_timed(wanted) == found

    def test_untimed_passing_run_does_not_answer(self, time, reported, find_timed):
        time(reported.summary())
        assert find_timed(None) == 1
        assert find_timed(plan("a")) is None

    def test_untimed_case_is_timed_again(self, time, reported, find_timed):
        time(reported.case("a", outcome=Outcome.OUT_OF_MEMORY))
        assert find_timed(plan("a")) is None

    def test_failed_run_answers_timing_request(self, time, reported, find_timed):
        time(reported.summary(), outcome=Outcome.WRONG_VALUE)
        assert find_timed(plan("a")) == 1

    def test_newer_untimed_run_does_not_hide_timed_one(self, time, reported, find_timed):
        time(reported.case("a"))
        time(reported.summary())
        assert find_timed(plan("a")) == 1
        assert find_timed(None) == 2


class TestExport:
    def test_nondefault_policy_is_reported(self, store, time):
        usual, strict = store.run(time()), store.run(time(policy=Policy.STRICT))
        exported = [json.loads("".join(as_json(store, run)))["runs"][0]["policy"] for run in (usual, strict)]
        assert exported == ["default", "strict"]
        assert "| policy | strict |" in "".join(as_markdown(store, strict))
        assert "| policy |" not in "".join(as_markdown(store, usual))

    def test_json_holds_benchmarks_and_summaries(self, store, time):
        (exported,) = json.loads("".join(as_json(store, store.run(time()))))["runs"]
        (case,) = exported["benchmarks"]
        assert (case["case"], case["cache"], case["timing"]["device_us"]["value"]) == ("4096x4096 f32", "cold", 50.0)
        assert case["comparisons"][0]["standing"] == "faster"
        assert exported["summaries"][0]["fast"] == {"1.0": 1, "2.0": 0}

    def test_csv_has_row_per_side_and_blank_unmeasured(self, store, time, reported, judge):
        judge()
        run = store.run(time(reported.case(baselines={"eager": 100.0, "vllm": None})))
        rows = list(csv.DictReader(io.StringIO("".join(as_csv(store, store.session(run.session))))))
        assert [(row["run"], row["side"], row["device_us"], row["speedup"]) for row in rows] == [
            ("2", "candidate", "50.0", ""),
            ("2", "eager", "100.0", "2.0"),
            ("2", "vllm", "", ""),
        ]
        assert [row["percent_of_floor"] for row in rows] == ["80.0", "", ""]
        assert (rows[0]["outcome"], rows[0]["flagged"], rows[0]["device_name"]) == ("pass", "0", "A GPU")

    @pytest.mark.parametrize("how", [as_csv, as_json])
    def test_failed_case_is_exported_without_times(self, store, time, reported, how):
        run = store.run(time(reported.case(device_us=77.125, outcome=Outcome.WRONG_VALUE), outcome=Outcome.WRONG_VALUE))
        text = "".join(how(store, run))
        assert "wrong_value" in text
        assert "77.125" not in text

    def test_markdown_shows_times_and_summary(self, store, time, reported):
        page = "".join(
            as_markdown(
                store, store.run(time(reported.case(), reported.case("b", outcome=Outcome.TIMEOUT), reported.summary()))
            )
        )
        benchmark = page.partition("## Benchmark\n\n")[2].partition("\n\n## Source")[0].splitlines()
        assert benchmark[0].startswith("| case | device us | call us | vs eager |")
        assert benchmark[2].startswith("| 4096x4096 f32 | 50.00 ±5.00 | 51.00 ±5.10 | 2.000 [1.800, 2.200] faster |")
        assert benchmark[4:7] == [
            "| case | not timed |",
            "| --- | --- |",
            "| b | timeout: 3 elements are out of tolerance |",
        ]
        assert any(line.startswith("| eager | 2.000x as fast as eager") for line in benchmark)

    def test_markdown_of_flagged_run_excludes_its_times(self, store, time):
        page = "".join(as_markdown(store, store.run(time(flagged=True))))
        assert "| doubt | these times do not count: the verdict is " in page
