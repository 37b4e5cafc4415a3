"""Facts in, verdict out: nothing that was not checked is ever right."""

from __future__ import annotations

import pytest

from engine.model import (
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    Policy,
    Severity,
    Tier,
    Verdict,
)
from engine.model.layers import Coverage, Layer, LayerReport
from engine.model.proof import CaseProof, Gap
from engine.verdict.decide import Breach, Facts, Interim, Stop, decide, interim, refusal
from engine.verdict.policy import WEIGHTS

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)
HERE = Location(line=9)


def result(outcome: Outcome, case: str = "a", message: str = "", location: Location | None = None) -> CaseResult:
    return CaseResult(
        case=case, tier=Tier.SMOKE, outcome=outcome, elapsed_s=0.0, calls=1, seed=1, message=message, location=location
    )


def kernel(outcome: Outcome, message: str = "") -> CompiledKernel:
    return CompiledKernel(launch=LAUNCH, target="sm_90", outcome=outcome, elapsed_s=0.1, message=message, location=HERE)


def finding(severity: Severity, message: str) -> Finding:
    return Finding(check="c", severity=severity, message=message, location=Location(line=3))


ALL_CHECKED = tuple(LayerReport(layer=layer, by="p", coverage=Coverage.CHECKED) for layer in Layer)
OK = result(Outcome.PASS)
NOT_OF_THE_KERNEL = (Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR, Outcome.PROBLEM_ERROR)
FAILED = [outcome for outcome in Outcome if outcome is not Outcome.PASS]


def test_all_cases_right_is_a_pass() -> None:
    assert decide(Facts(planned=2, cases=(OK, OK), layers=ALL_CHECKED)) == Verdict(
        outcome=Outcome.PASS, sentence="2/2 cases passed", passed=2, total=2
    )


def test_proven_cases_are_counted_in_the_verdict() -> None:
    proofs = (CaseProof(case="a"), CaseProof(case="b", gap=Gap.SCALAR, reason="a scalar that depends on the data"))
    verdict = decide(Facts(planned=2, cases=(OK, OK), layers=ALL_CHECKED, proofs=proofs))
    assert (verdict.sentence, verdict.proven) == ("2/2 cases passed, 1 proven", 1)


@pytest.mark.parametrize(("policy", "flagged"), [(Policy.DEFAULT, False), (Policy.STRICT, True)])
def test_only_the_strict_policy_demands_proof(policy: Policy, flagged: bool) -> None:  # a parameter
    verdict = decide(Facts(planned=1, policy=policy, cases=(OK,), layers=unchecked(Layer.PROOF)))
    assert verdict.flagged is flagged


def unchecked(layer: Layer, coverage: Coverage = Coverage.NOT_CHECKED) -> tuple[LayerReport, ...]:
    """All layers were checked but for this one."""
    others = (report for report in ALL_CHECKED if report.layer is not layer)
    return (*others, LayerReport(layer=layer, by="p", coverage=coverage, why="it died"))


def test_unchecked_required_layer_prevents_pass() -> None:
    verdict = decide(Facts(planned=1, cases=(OK,), layers=unchecked(Layer.ABLATION)))
    assert (verdict.outcome, verdict.flagged) == (Outcome.PASS, True)
    assert verdict.sentence == "1/1 cases passed, but flagged: ablation (p) could not be checked: it died"


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("layer", list(Layer))
def test_unchecked_layer_flags_if_policy_requires(policy: Policy, layer: Layer) -> None:
    verdict = decide(Facts(planned=1, policy=policy, cases=(OK,), layers=unchecked(layer)))
    assert verdict.flagged is WEIGHTS[policy].requires(layer)


@pytest.mark.parametrize("coverage", [Coverage.NOT_AVAILABLE, Coverage.NOT_ASKED])
def test_unavailable_or_unrequested_layer_flags_nothing(coverage: Coverage) -> None:
    layers = tuple(LayerReport(layer=layer, by="p", coverage=coverage, why="not here") for layer in Layer)
    assert not decide(Facts(planned=1, policy=Policy.STRICT, cases=(OK,), layers=layers)).flagged


def test_unreported_required_layer_is_not_checked() -> None:
    layers = tuple(report for report in ALL_CHECKED if report.layer is not Layer.BEHAVIOUR)
    verdict = decide(Facts(planned=1, cases=(OK,), layers=layers))
    assert verdict.flagged
    assert verdict.sentence.endswith("but flagged: behaviour was not checked: no stage reported on it")


def test_finding_is_reported_before_unchecked_layer() -> None:
    facts = Facts(planned=1, cases=(OK,), findings=(finding(Severity.SUSPECT, "odd"),), layers=unchecked(Layer.INPUTS))
    assert decide(facts).sentence == "1/1 cases passed, but flagged: odd"


def test_weak_operator_is_named_in_passing_verdict() -> None:
    passed = decide(Facts(planned=1, cases=(OK,), layers=ALL_CHECKED, weakness="zeros pass"))
    assert passed.sentence == "1/1 cases passed, but verdicts of this operator are unreliable: zeros pass"
    wrong = decide(Facts(planned=1, cases=(result(Outcome.WRONG_VALUE),), layers=ALL_CHECKED, weakness="zeros pass"))
    assert "cannot tell" not in wrong.sentence


def test_no_case_planned_is_refused() -> None:
    verdict = decide(Facts(planned=0))
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.sentence == "no cases selected, nothing was verified; use --cases smoke or full"


@pytest.mark.parametrize(("cases", "missing"), [((), 3), ((OK,), 2), ((OK, OK), 1)])
def test_cases_never_run_are_engine_error(cases: tuple[CaseResult, ...], missing: int) -> None:
    verdict = decide(Facts(planned=3, cases=cases))
    assert (verdict.outcome, verdict.sentence) == (Outcome.ENGINE_ERROR, f"{missing} of 3 cases were not run")
    assert verdict.passed == len(cases)


@pytest.mark.parametrize("outcome", FAILED)
def test_one_failed_case_decides_the_verdict(outcome: Outcome) -> None:
    verdict = decide(Facts(planned=2, cases=(OK, result(outcome, "b", "why", HERE))))
    sentence = "case b could not be run: why" if outcome in NOT_OF_THE_KERNEL else "case b failed: why"
    assert verdict == Verdict(outcome=outcome, sentence=sentence, passed=1, total=2, location=HERE)


@pytest.mark.parametrize("outcome", NOT_OF_THE_KERNEL)
def test_cases_that_could_not_run_are_not_failed(outcome: Outcome) -> None:
    verdict = decide(Facts(planned=3, cases=(OK, result(outcome, "b", "no GPU"), result(outcome, "c", "no GPU"))))
    assert (verdict.outcome, verdict.sentence) == (outcome, "2 of 3 cases could not be run, first b: no GPU")


def test_failed_case_is_named_before_those_not_run() -> None:
    cases = (result(Outcome.UNSUPPORTED, "a", "no GPU"), result(Outcome.WRONG_VALUE, "b", "wrong"))
    assert decide(Facts(planned=2, cases=cases)).sentence == "2 of 2 cases failed, first b: wrong"


def test_failed_case_without_message_states_its_outcome() -> None:
    assert decide(Facts(planned=1, cases=(result(Outcome.TIMEOUT),))).sentence == "case a failed: timeout"


@pytest.mark.parametrize(
    ("outcomes", "named"),
    [
        ((Outcome.WRONG_VALUE, Outcome.TAMPERED), Outcome.TAMPERED),
        ((Outcome.WRONG_VALUE, Outcome.RUNTIME_ERROR), Outcome.RUNTIME_ERROR),
        ((Outcome.WRONG_VALUE, Outcome.NONFINITE), Outcome.NONFINITE),
        ((Outcome.NONFINITE, Outcome.WRONG_SHAPE), Outcome.WRONG_SHAPE),
        ((Outcome.TIMEOUT, Outcome.CRASHED), Outcome.CRASHED),
        ((Outcome.ENGINE_ERROR, Outcome.WRONG_VALUE), Outcome.WRONG_VALUE),
        ((Outcome.UNSUPPORTED, Outcome.MUTATED_INPUT), Outcome.MUTATED_INPUT),
    ],
)
def test_most_severe_failure_is_the_verdict(outcomes: tuple[Outcome, ...], named: Outcome) -> None:
    cases = tuple(result(outcome, f"case {i}", outcome.value) for i, outcome in enumerate(outcomes))
    verdict = decide(Facts(planned=5, cases=cases))
    assert verdict.outcome is named
    assert verdict.sentence == f"2 of 5 cases failed, first case {outcomes.index(named)}: {named.value}"


def test_first_of_equally_severe_failures_is_named() -> None:
    cases = (OK, result(Outcome.WRONG_VALUE, "b", "first"), result(Outcome.WRONG_VALUE, "c", "second"))
    assert decide(Facts(planned=3, cases=cases)).sentence == "2 of 3 cases failed, first b: first"


def test_stopping_error_precedes_failed_cases() -> None:
    stop = Stop(outcome=Outcome.TIMEOUT, message="twice", location=HERE)
    verdict = decide(Facts(planned=3, stop=stop, cases=(OK, result(Outcome.TAMPERED))))
    assert verdict == Verdict(outcome=Outcome.TIMEOUT, sentence="twice", passed=1, total=3, location=HERE)


def test_cancelled_run_is_cancelled_with_all_cases_passed() -> None:
    stop = Stop(outcome=Outcome.CANCELLED, message="cancelled")
    assert decide(Facts(planned=1, stop=stop, cases=(OK,))).outcome is Outcome.CANCELLED


def test_kernel_not_building_fails_passing_cases() -> None:
    verdict = decide(Facts(planned=1, cases=(OK,), kernels=(kernel(Outcome.COMPILE_ERROR, "too much shared memory"),)))
    assert verdict == Verdict(
        outcome=Outcome.COMPILE_ERROR,
        location=HERE,
        passed=1,
        total=1,
        sentence="all cases passed, but k does not build for sm_90: too much shared memory",
    )


def test_kernel_that_builds_changes_nothing() -> None:
    assert decide(Facts(planned=1, cases=(OK,), kernels=(kernel(Outcome.PASS),))).outcome is Outcome.PASS


@pytest.mark.parametrize("outcome", [Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR])
def test_kernel_not_compiled_for_target_does_not_pass(outcome: Outcome) -> None:
    facts = Facts(planned=1, cases=(OK,), kernels=(kernel(outcome, "no compiler got ready"),), layers=ALL_CHECKED)
    assert decide(facts) == Verdict(
        outcome=outcome,
        passed=1,
        total=1,
        location=HERE,
        sentence="1/1 cases passed, but could not check that k builds for sm_90: no compiler got ready",
    )


def test_kernel_launched_on_its_target_needs_no_compile() -> None:
    kernels = (kernel(Outcome.UNSUPPORTED), kernel(Outcome.ENGINE_ERROR))
    facts = Facts(planned=1, cases=(OK,), kernels=kernels, launched_on="sm_90", layers=ALL_CHECKED)
    assert (decide(facts).outcome, decide(facts).flagged) == (Outcome.PASS, False)


def test_skipped_check_of_the_plan_prevents_pass() -> None:
    unmade = (Stop(outcome=Outcome.UNSUPPORTED, message="too many kernels"),)
    verdict = decide(Facts(planned=1, cases=(OK,), layers=ALL_CHECKED, unmade=unmade))
    assert (verdict.outcome, verdict.sentence) == (Outcome.UNSUPPORTED, "1/1 cases passed, but too many kernels")


def test_engine_failure_in_required_layer_never_flags() -> None:
    layers = (*unchecked(Layer.INPUTS, Coverage.ENGINE_FAILED), *unchecked(Layer.BEHAVIOUR))
    verdict = decide(Facts(planned=1, cases=(OK,), layers=layers))
    assert (verdict.outcome, verdict.flagged) == (Outcome.ENGINE_ERROR, False)
    assert verdict.sentence == "1/1 cases passed, but inputs (p) could not be checked: it died"


def test_engine_failure_in_optional_layer_keeps_the_pass() -> None:
    verdict = decide(Facts(planned=1, cases=(OK,), layers=unchecked(Layer.STATIC, Coverage.ENGINE_FAILED)))
    assert (verdict.outcome, verdict.flagged) == (Outcome.PASS, False)


def test_proof_counts_although_a_check_was_not_made() -> None:
    facts = Facts(
        planned=1, cases=(OK,), findings=(finding(Severity.PROOF, "copied"),), kernels=(kernel(Outcome.ENGINE_ERROR),)
    )
    assert (decide(facts).outcome, decide(facts).flagged) == (Outcome.PASS, True)


def test_unbuilt_kernel_is_found_behind_unchecked_one() -> None:
    kernels = (kernel(Outcome.UNSUPPORTED), kernel(Outcome.COMPILE_ERROR, "no"))
    assert decide(Facts(planned=1, cases=(OK,), kernels=kernels)).outcome is Outcome.COMPILE_ERROR


def test_wrong_case_is_named_before_unbuilt_kernel() -> None:
    facts = Facts(planned=1, cases=(result(Outcome.WRONG_VALUE),), kernels=(kernel(Outcome.COMPILE_ERROR),))
    assert decide(facts).outcome is Outcome.WRONG_VALUE


@pytest.mark.parametrize("severity", [Severity.SUSPECT, Severity.PROOF])
def test_pass_with_severe_finding_is_flagged(severity: Severity) -> None:
    findings = (finding(Severity.HINT, "a hint"), finding(severity, "no kernel was launched"))
    assert decide(Facts(planned=1, cases=(OK,), findings=findings)) == Verdict(
        outcome=Outcome.PASS,
        sentence="1/1 cases passed, but flagged: no kernel was launched",
        passed=1,
        total=1,
        flagged=True,
        location=Location(line=3),
    )


@pytest.mark.parametrize("severity", [Severity.NOTE, Severity.HINT])
def test_low_severity_finding_does_not_flag(severity: Severity) -> None:
    verdict = decide(Facts(planned=1, cases=(OK,), layers=ALL_CHECKED, findings=(finding(severity, "spelling"),)))
    assert (verdict.flagged, verdict.sentence) == (False, "1/1 cases passed")


def test_a_failure_is_not_flagged_on_top() -> None:
    facts = Facts(planned=1, cases=(result(Outcome.WRONG_VALUE),), findings=(finding(Severity.PROOF, "x"),))
    assert decide(facts).flagged is False


# ---------------------------------------------------------------- policies


def under(policy: Policy, *found: Severity) -> Verdict:
    findings = tuple(finding(severity, f"a {severity}") for severity in found)
    return decide(Facts(planned=1, policy=policy, cases=(OK,), layers=ALL_CHECKED, findings=findings))


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("policy", Policy)
def test_passing_run_is_flagged_exactly_by_table(policy: Policy, severity: Severity) -> None:
    assert under(policy, severity).flagged is WEIGHTS[policy].flags(severity)


def test_most_severe_finding_is_named() -> None:
    verdict = under(Policy.DEFAULT, Severity.SUSPECT, Severity.PROOF)
    assert verdict.sentence == "1/1 cases passed, but flagged: a proof"


def test_the_strict_policy_flags_and_is_named() -> None:
    assert under(Policy.STRICT).sentence == "1/1 cases passed, by the strict policy"
    verdict = under(Policy.STRICT, Severity.SUSPECT)
    assert verdict.flagged
    assert verdict.sentence == "1/1 cases passed, but flagged: a suspect, by the strict policy"


def test_facts_only_policy_states_findings_without_deciding() -> None:
    verdict = under(Policy.FACTS_ONLY, Severity.HINT, Severity.PROOF, Severity.HINT)
    assert verdict == Verdict(
        outcome=Outcome.PASS,
        passed=1,
        total=1,
        sentence="1/1 cases passed; findings: 1 proof, 2 hint, the first: a proof; no policy applied (facts-only)",
    )
    light = under(Policy.FACTS_ONLY, Severity.NOTE, Severity.HINT)
    assert light.sentence == "1/1 cases passed; findings: 1 hint, 1 note; no policy applied (facts-only)"
    clean = under(Policy.FACTS_ONLY)
    assert clean.sentence == "1/1 cases passed; findings: none; no policy applied (facts-only)"


@pytest.mark.parametrize("policy", Policy)
def test_a_wrong_answer_is_wrong_under_every_policy(policy: Policy) -> None:
    facts = Facts(planned=1, policy=policy, cases=(result(Outcome.WRONG_VALUE, message="off by one"),))
    verdict = decide(facts)
    assert (verdict.outcome, verdict.flagged) == (Outcome.WRONG_VALUE, False)
    assert verdict.sentence.startswith("case a failed: off by one")


def test_only_strict_policy_refuses_rule_violations() -> None:
    first = Breach(rule="Nothing is computed twice.", finding=finding(Severity.HINT, "it is"))
    assert refusal(Policy.STRICT, ()) is None
    assert [refusal(policy, (first,)) for policy in (Policy.DEFAULT, Policy.FACTS_ONLY)] == [None, None]
    assert refusal(Policy.STRICT, (first, first, first)) == Stop(
        outcome=Outcome.REFUSED,
        location=Location(line=3),
        message="not run, breaks a strict rule: Nothing is computed twice (c, line 3: it is); 2 more broken rules",
    )


def test_interim_of_unfinished_right_cases_is_open() -> None:
    assert interim(Facts(planned=2, cases=(OK,))) is None


def test_interim_without_planned_cases_is_open() -> None:
    assert interim(Facts(planned=0)) is None


def test_interim_verdict_of_failed_case_is_outcome() -> None:
    assert interim(Facts(planned=9, cases=(OK, result(Outcome.WRONG_VALUE)))) == Interim(outcome=Outcome.WRONG_VALUE)


def test_interim_is_most_severe_failure() -> None:
    cases = (result(Outcome.UNSUPPORTED), result(Outcome.WRONG_VALUE), result(Outcome.TIMEOUT))
    assert interim(Facts(planned=9, cases=cases)) == Interim(outcome=Outcome.TIMEOUT)


def test_interim_of_all_cases_right_is_a_pass() -> None:
    assert interim(Facts(planned=2, cases=(OK, OK))) == Interim(outcome=Outcome.PASS)


def test_interim_verdict_of_unbuilt_kernel_is_outcome() -> None:
    facts = Facts(planned=1, cases=(OK,), kernels=(kernel(Outcome.UNSUPPORTED), kernel(Outcome.COMPILE_ERROR)))
    assert interim(facts) == Interim(outcome=Outcome.COMPILE_ERROR)


def test_interim_verdict_with_severe_finding_is_flagged() -> None:
    facts = Facts(planned=1, cases=(OK,), findings=(finding(Severity.SUSPECT, "s"),))
    assert interim(facts) == Interim(outcome=Outcome.PASS, flagged=True)


def test_interim_follows_the_policy_over_findings() -> None:
    facts = Facts(planned=1, cases=(OK,), findings=(finding(Severity.SUSPECT, "s"),), policy=Policy.FACTS_ONLY)
    assert interim(facts) == Interim(outcome=Outcome.PASS)
