"""The inspection of a run: its sentence, its layers, its findings, and above all what was not checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.inspection.coverage import Axis, Tally, axes_of, tallies_of
from engine.inspection.evidence import EXECUTED_ON_CPU, Unchecked, inspect
from engine.inspection.page import page_of
from engine.inspection.speedup_claim import Backing, Claim
from engine.model import (
    CacheState,
    Case,
    CaseResult,
    CompiledKernel,
    Cost,
    DType,
    Finding,
    Launch,
    Location,
    Outcome,
    Policy,
    Problem,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
)
from engine.model.benchmark import CaseBenchmark, Comparison, Interval, Standing, Summary
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseFinished,
    FindingRaised,
    KernelCompiled,
    LayerChecked,
    RunFinished,
    RunStarted,
)
from engine.model.layers import Coverage, Layer, LayerReport
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from engine.verdict.decide import Facts, Stop, decide

SOURCE = "import torch\n\n    y = torch.relu(x)  # [bold]\n"


def case(name: str, dtype: DType = DType.FLOAT32, tier: Tier = Tier.SMOKE, **params: object) -> Case:
    return Case(name=name, dtype=dtype, tier=tier, params=params)  # type: ignore[arg-type]  # plain values of a case


def problem_of(*cases: Case) -> Problem:
    return ProblemDefinition(
        name="aten::relu",
        entry="relu",
        signature="relu(x)",
        summary="",
        category="",
        cases=cases,
        make_inputs=lambda case, rng: (),
        reference=lambda x: x,
        eager=lambda x: x,
        tolerance=lambda case: Tolerance(relative=0, absolute=0),
        cost=lambda case: Cost(flops=0, bytes_read=0, bytes_written=0),
    ).problem("toy_problems")


PROBLEM = problem_of(case("a", n=1), case("b", DType.FLOAT16, Tier.FULL, n=2))


def result(name: str, outcome: Outcome = Outcome.PASS, tier: Tier = Tier.SMOKE) -> CaseResult:
    return CaseResult(case=name, tier=tier, outcome=outcome, elapsed_s=0.1, calls=3, seed=1, message="as it is")


def finding(severity: Severity, *, line: int | None = None) -> Finding:
    place = Location(line=line) if line else None
    return Finding(check="torch_compute", severity=severity, message=f"a {severity}", location=place)


def report(layer: Layer, coverage: Coverage = Coverage.CHECKED, *, by: str = "a_probe") -> LayerReport:
    return LayerReport(layer=layer, by=by, coverage=coverage, why="" if coverage is Coverage.CHECKED else "it broke")


ALL_CHECKED = tuple(report(layer) for layer in Layer)
RIGHT = (result("a"), result("b", tier=Tier.FULL))
TIMED = CaseBenchmark(
    case="a",
    outcome=Outcome.PASS,
    cache=CacheState.COLD,
    elapsed_s=1.0,
    comparisons=(
        Comparison(
            baseline="eager",
            speedup=Interval(value=1.92, low=1.9, high=1.95),
            resolution=0.01,
            standing=Standing.FASTER,
        ),
    ),
)
SUMMARY = Summary(
    baseline="eager", speedup=Interval(value=1.92, low=1.9, high=1.95), cases=1, planned=1, fast={"1.0": 1}
)


def evidence(
    *,
    cases=RIGHT,
    findings=(),
    layers=ALL_CHECKED,
    policy=Policy.DEFAULT,
    device="cuda",
    target="sm_90",
    stop=None,
    timed=(),
    kernels=(),
) -> RunRecord:
    """What a run says of these facts, with the verdict that they come to."""
    facts = Facts(planned=2, policy=policy, stop=stop, cases=cases, kernels=kernels, findings=findings, layers=layers)
    events = (
        RunStarted(
            at_s=0.0,
            problem="aten::relu",
            digest="ab" * 32,
            device=device,
            device_name="a device",
            target=target,
            cases=2,
            policy=policy,
        ),
        *(CaseFinished(at_s=0.1, number=1, total=2, result=one) for one in cases),
        *(FindingRaised(at_s=0.2, finding=one) for one in findings),
        *(LayerChecked(at_s=0.2, report=one) for one in layers),
        *(KernelCompiled(at_s=0.3, number=1, total=1, kernel=one) for one in kernels),
        *(CaseBenchmarked(at_s=0.4, number=1, total=1, benchmark=one) for one in timed),
        *((BenchmarkSummarised(at_s=0.4, summaries=(SUMMARY,)),) if timed else ()),
        RunFinished(at_s=0.5, verdict=decide(facts)),
    )
    return record_of(events, file="relu.py", number=7)


def inspected(claim: Claim | None = None, **facts):
    return inspect(evidence(**facts), problem=PROBLEM, source=SOURCE, claim=claim)


# The sentence


@pytest.mark.parametrize(
    ("facts", "headline"),
    [
        ({}, "2/2 cases passed"),
        (
            {"findings": (finding(Severity.HINT), finding(Severity.SUSPECT))},
            "2/2 cases passed, but flagged: a suspect",
        ),
        (
            {
                "layers": tuple(
                    report(layer, Coverage.NOT_CHECKED if layer is Layer.ABLATION else Coverage.CHECKED)
                    for layer in Layer
                )
            },
            "2/2 cases passed, but flagged: ablation (a_probe) could not be checked: it broke",
        ),
        (
            {"policy": Policy.STRICT, "cases": (), "stop": Stop(outcome=Outcome.REFUSED, message="it breaks a rule")},
            "it breaks a rule, by the strict policy",
        ),
        ({"cases": (result("a"), result("b", Outcome.WRONG_VALUE))}, "case b failed: as it is"),
        (
            {"policy": Policy.FACTS_ONLY, "findings": (finding(Severity.PROOF),)},
            "2/2 cases passed; findings: 1 proof, the first: a proof; no policy applied (facts-only)",
        ),
    ],
    ids=["honest", "flagged by a finding", "flagged by a layer", "refused", "failed", "facts-only"],
)
def test_the_headline_is_the_sentence_of_the_verdict(facts, headline):
    assert inspected(**facts).headline == headline
    assert inspected(claim=Claim(speedup=1.5), **facts).headline == headline


def test_unsupported_claim_is_in_the_headline():
    inspection = inspected(claim=Claim(speedup=2.3), timed=(TIMED,))
    assert inspection.headline == "2/2 cases passed, but not 2.3x against eager"
    assert inspection.claim is not None
    assert inspection.claim.backing is Backing.NOT_SUPPORTED


def test_supported_claim_leaves_headline_unchanged():
    inspection = inspected(claim=Claim(speedup=1.9), timed=(TIMED,))
    assert (inspection.headline, inspection.claim.backing) == ("2/2 cases passed", Backing.SUPPORTED)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"device": "cpu"}, EXECUTED_ON_CPU),
        ({"cases": (result("a", Outcome.WRONG_VALUE),)}, "only passing kernels are timed"),
        ({"layers": (report(Layer.TIMING, Coverage.NOT_ASKED),)}, "it broke"),
        ({}, "no case was selected for timing"),
    ],
)
def test_claim_without_timing_is_not_measured(facts, why):
    inspection = inspected(claim=Claim(speedup=2.0), **facts)
    assert inspection.untimed == why
    assert inspection.claim.sentence == f"the claim of 2x against eager was not measured: {why}"
    assert Unchecked(what="speed", state="not measured", why=why) in inspection.unchecked


def test_times_of_flagged_run_do_not_support_claim():
    inspection = inspected(claim=Claim(speedup=1.5), timed=(TIMED,), findings=(finding(Severity.PROOF),))
    assert inspection.claim.backing is Backing.NOT_MEASURED
    assert "these times do not count: the verdict is flagged" in inspection.claim.sentence
    assert ("speed", "does not count") in [(one.what, one.state) for one in inspection.unchecked]


# Layers


def test_every_layer_is_listed_in_order():
    layers = inspected(layers=(report(Layer.ABLATION),)).layers
    assert [seen.layer for seen in layers] == list(Layer)
    assert [seen.coverage for seen in layers] == [None, None, None, Coverage.CHECKED, None, None, None]


@pytest.mark.parametrize(
    ("reported", "coverage"),
    [
        ((Coverage.CHECKED, Coverage.NOT_CHECKED), Coverage.NOT_CHECKED),
        ((Coverage.CHECKED, Coverage.NOT_AVAILABLE), Coverage.CHECKED),
        ((Coverage.NOT_ASKED, Coverage.NOT_AVAILABLE), Coverage.NOT_AVAILABLE),
        ((Coverage.NOT_ASKED,), Coverage.NOT_ASKED),
    ],
)
def test_layer_coverage_is_that_of_its_failed_report(reported, coverage):
    reports = tuple(report(Layer.INPUTS, one, by=f"probe_{place}") for place, one in enumerate(reported))
    (seen,) = (seen for seen in inspected(layers=reports).layers if seen.layer is Layer.INPUTS)
    assert (seen.coverage, seen.reports) == (coverage, reports)


def test_policy_requirement_is_stated_for_each_layer():
    required = {seen.layer for seen in inspected().layers if seen.required}
    assert required == {Layer.BEHAVIOUR, Layer.ABLATION, Layer.INPUTS, Layer.DEVICE_RECORD}
    assert all(seen.required for seen in inspected(policy=Policy.STRICT).layers)
    assert not any(seen.required for seen in inspected(policy=Policy.FACTS_ONLY).layers)


# What was not checked


def test_fully_checked_gpu_run_leaves_nothing_open():
    assert inspected(timed=(TIMED,)).unchecked == ()


@pytest.mark.parametrize("coverage", [Coverage.NOT_CHECKED, Coverage.NOT_AVAILABLE, Coverage.NOT_ASKED])
def test_every_unchecked_report_is_named_with_reason(coverage):
    layers = (*ALL_CHECKED, report(Layer.INPUTS, coverage, by="new_content"))
    assert inspected(layers=layers, timed=(TIMED,), policy=Policy.FACTS_ONLY).unchecked == (
        Unchecked(what="inputs (new_content)", state=coverage, why="it broke"),
    )


def test_unreported_layer_is_named():
    missing = [one for one in inspected(layers=()).unchecked if one.state == "not reported"]
    assert [one.what for one in missing] == list(Layer)
    assert {one.why for one in missing} == {"no check reported on it in this run"}


def test_layers_after_failure_state_that_run_ended():
    missing = inspected(layers=(), cases=(result("a", Outcome.CRASHED),)).unchecked
    assert missing[0].why == "the run ended early: a wrong candidate is not examined further"
    assert Unchecked(what="cases", state="not run", why="1 of 2: the run ended early") in missing


def test_cancelled_run_lists_unchecked_layers():
    stop = Stop(outcome=Outcome.CANCELLED, message="cancelled")
    inspection = inspected(layers=(report(Layer.STATIC),), cases=(result("a"),), stop=stop)
    assert inspection.headline == (
        "the run was cancelled: 1 of 2 cases were run; "
        "not reached: proof, behaviour, ablation, inputs, device record, timing"
    )
    missing = [one for one in inspection.unchecked if one.what in (*Layer, "cases", "speed")]
    assert [one.what for one in missing] == [*(one for one in Layer if one is not Layer.STATIC), "cases", "speed"]
    assert {one.why for one in missing} == {
        "the run was cancelled",
        "1 of 2: the run was cancelled",
    }
    page = page_of(inspection)
    sections = {section.title: section for section in page.sections}
    states = {entry.name: entry.state for entry in sections["What was checked"].entries}
    assert states == {**dict.fromkeys(Layer, "not reached"), Layer.STATIC: "checked"}
    assert sections["Findings"].note == "none so far"
    assert sections["Cases"].note == "1 of the 1 run passed; 1 of 2 were not run"
    assert sections["Measured speed"].note == "not measured: the run was cancelled"


def test_interpreter_run_does_not_claim_that_kernel_builds():
    states = [(one.what, one.state) for one in inspected(device="cpu", target=None).unchecked]
    assert states == [("device", "not a GPU"), ("compiled code", "not asked"), ("speed", "not measured")]


def test_kernels_left_out_are_counted():
    partial = replace(evidence(cases=(result("a"),), layers=(report(Layer.STATIC),)), kernels_planned=3)
    left_out = [one for one in inspect(partial, problem=PROBLEM, source=SOURCE).unchecked if one.state == "left out"]
    why = "3 of 3 kernels were not compiled: not all cases passed"
    assert left_out == [Unchecked(what="compiled code", state="left out", why=why)]


def test_kernel_not_compilable_here_is_named():
    launch = Launch(
        kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=9
    )
    kernel = CompiledKernel(
        launch=launch, target="gfx942", outcome=Outcome.UNSUPPORTED, elapsed_s=0.1, message="no such backend"
    )
    unchecked, *_ = inspected(kernels=(kernel,), timed=(TIMED,)).unchecked
    assert unchecked == Unchecked(
        what="compiled for gfx942", state="not supported here", why="k, line 9: no such backend"
    )


def test_running_run_has_no_verdict():
    done = evidence(cases=(result("a"),), layers=(report(Layer.STATIC),))
    going_on = replace(done, verdict=None, finished_s=None)
    inspection = inspect(going_on, problem=PROBLEM, source=SOURCE, claim=Claim(speedup=2.0))
    assert inspection.headline == "no verdict yet: the run is in progress"
    assert {one.why for one in inspection.unchecked} == {"the run is in progress", "1 of 2: the run is in progress"}
    sections = {section.title: section for section in page_of(inspection).sections}
    assert (sections["Findings"].note, sections["Cases"].note) == ("none so far", "1 of 2 run")


def test_failed_cases_of_running_run_are_counted():
    done = evidence(cases=(result("a"), result("b", outcome=Outcome.WRONG_VALUE)), layers=())
    sections = {
        section.title: section
        for section in page_of(
            inspect(replace(done, verdict=None, finished_s=None, planned=3), problem=PROBLEM, source=SOURCE)
        ).sections
    }
    assert sections["Cases"].note == "2 of 3 run, 1 failed"


def test_interrupted_run_has_no_verdict_and_is_over():
    done = evidence(cases=(result("a"),), layers=(report(Layer.STATIC),))
    inspection = inspect(replace(done, verdict=None, finished_s=None, cut_short=True), problem=PROBLEM, source=SOURCE)
    page = page_of(inspection)
    assert (page.word, inspection.headline) == ("cut short", "no verdict: the run was cut short")
    assert {one.why for one in inspection.unchecked} == {
        "the run was cut short",
        "1 of 2: the run was cut short",
    }


# Findings


def test_findings_are_sorted_by_severity_with_source_lines():
    seen = inspected(findings=(finding(Severity.HINT, line=3), finding(Severity.PROOF), finding(Severity.NOTE, line=9)))
    assert [(one.finding.severity, one.code, one.flags) for one in seen.findings] == [
        (Severity.PROOF, "", True),
        (Severity.HINT, "y = torch.relu(x)  # [bold]", False),
        (Severity.NOTE, "", False),
    ]


# Cases


def test_cases_are_counted_by_type_and_tier():
    results = [result("b", Outcome.WRONG_VALUE, Tier.FULL), result("a"), result("gone")]
    assert tallies_of(results, PROBLEM) == (
        Tally(dtype="f32", tier=Tier.SMOKE, passed=1, judged=1),
        Tally(dtype="f16", tier=Tier.FULL, passed=0, judged=1),
        Tally(dtype="unknown", tier=Tier.SMOKE, passed=1, judged=1),
    )


def test_parameters_of_run_cases_are_listed():
    shapes = [(0, 1), (31, 32), (33, 5), (127, 128), (129, 2), (1000, 1)]
    cases = [case(f"c{place}", shape=shape, layout="strided") for place, shape in enumerate(shapes)]
    problem = problem_of(*cases, case("odd", layout="plain", keepdim=True, scale=0.5), case("never", layout="unused"))
    results = [result(name) for name in (*(one.name for one in cases), "odd")]
    assert axes_of(results, problem) == (
        Axis(name="shape", values="0, 1 to 1000, 11 different values; below, at and above 32, 128"),
        Axis(name="layout", values="strided (6 cases), plain (1 case)"),
        Axis(name="keepdim", values="True (1 case)"),
        Axis(name="scale", values="0.5 (1 case)"),
    )


def test_few_sizes_are_reported_one_by_one():
    problem = problem_of(case("a", m=3), case("b", m=1), case("c", m=3))
    assert axes_of([result(name) for name in "abc"], problem) == (Axis(name="m", values="1, 3"),)


def test_words_beyond_eight_are_counted():
    cases = [case(f"c{place}", layout=f"l{place}") for place in range(11)]
    (axis,) = axes_of([result(one.name) for one in cases], problem_of(*cases))
    assert axis.values.split(", ")[-2:] == ["l7 (1 case)", "and 3 more"]
