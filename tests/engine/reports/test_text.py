"""The three formats of a run, against files that are reviewed like code."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from engine.model import (
    Artefact,
    CaseResult,
    CompiledKernel,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    Finding,
    Launch,
    Location,
    Outcome,
    OutputReport,
    Policy,
    Severity,
    Stage,
    Stream,
    Tier,
    Verdict,
    WrongElement,
)
from engine.model.events import (
    CaseFinished,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelDisassembled,
    KernelLaunched,
    LayerChecked,
    LogWritten,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
    TierFinished,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.reports.markdown import as_markdown
from engine.reports.printable import printable
from engine.reports.reducer import record_of
from engine.reports.text import as_json, as_plain, plain_lines
from engine.reports.verdict_words import word_of

GOLDEN = Path(__file__).parent / "golden"

LAUNCH = Launch(
    kernel="softmax_kernel",
    signature={"x_ptr": "*fp32", "BLOCK": "constexpr"},
    constants={"BLOCK": "1024"},
    divisible_by_16=("x_ptr",),
    num_warps=4,
    num_stages=3,
    grid=(7,),
    line=10,
)
WRONG = OutputReport(
    name="return", outcome=Outcome.WRONG_VALUE, message="return: 3 of 5467 wrong", shape=(7, 781), dtype="float32",
    mismatched=3, total=5467, nonfinite_got=1, max_absolute_error=0.03125, max_relative_error=float("inf"),
    worst=WrongElement(index=(6, 780), expected="0.5", got="nan"), first_wrong=(6, 778), last_wrong=(6, 780),
    error_map=("...", "..#"),
)  # fmt: skip
EVENTS: tuple[Event, ...] = (
    RunStarted(
        at_s=0.0, problem="aten::softmax", digest="ab" * 32, device="cpu", device_name="A CPU [interpreter]",
        target="sm_90", cases=2,
    ),
    StageStarted(at_s=0.001, stage=Stage.PARSE),
    StageFinished(at_s=0.002, stage=Stage.PARSE, outcome=Outcome.PASS, elapsed_s=0.001),
    FindingRaised(
        at_s=0.003,
        finding=Finding(
            check="handler_computes", severity=Severity.HINT, message="this handler computes | an answer",
            location=Location(line=4, column=5), case="7x781 f32",
        ),
    ),
    LayerChecked(
        at_s=0.003,
        report=LayerReport(
            layer=Layer.STATIC, by="checks", coverage=Coverage.CHECKED, facts=(Fact(name="checks", value="38"),)
        ),
    ),
    LayerChecked(
        at_s=0.0035,
        report=LayerReport(layer=Layer.ABLATION, by="ghost", coverage=Coverage.NOT_CHECKED, why="it raised\x1b[2J"),
    ),
    StageStarted(at_s=0.004, stage=Stage.VERIFY, total=2),
    LogWritten(at_s=0.005, stream=Stream.STDOUT, text="hello\n\x1b[2Jcleared"),
    CaseFinished(
        at_s=0.1, number=1, total=2,
        result=CaseResult(case="4x33 f32", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.02, calls=3, seed=7),
    ),
    TierFinished(at_s=0.1, tier=Tier.SMOKE, passed=1, total=1),
    KernelLaunched(at_s=0.11, launch=LAUNCH),
    CaseFinished(
        at_s=0.2, number=2, total=2,
        result=CaseResult(
            case="7x781 f32", tier=Tier.FULL, outcome=Outcome.WRONG_VALUE, elapsed_s=0.03, calls=1, seed=2**64 - 1,
            message="return: 3 of 5467 wrong", location=Location(line=12), outputs=(WRONG,),
        ),
    ),
    TierFinished(at_s=0.2, tier=Tier.FULL, passed=0, total=1),
    StageFinished(
        at_s=0.21, stage=Stage.VERIFY, outcome=Outcome.WRONG_VALUE, elapsed_s=0.2, message="return: 3 of 5467 wrong"
    ),
    KernelCompiled(
        at_s=0.3, number=1, total=1,
        kernel=CompiledKernel(
            launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.09, registers=22, shared_bytes=32,
            artefacts=(Artefact(kind="ptx", digest="cd" * 32, bytes=10),),
        ),
    ),
    RunFinished(
        at_s=0.4,
        verdict=Verdict(
            outcome=Outcome.WRONG_VALUE, sentence="case 7x781 f32 failed: return: 3 of 5467 wrong", passed=1, total=2,
            location=Location(line=12),
        ),
        draw_seed=2**61 - 1,
    ),
    KernelDisassembled(at_s=0.5, number=1, artefact=Artefact(kind="sass", digest="ef" * 32, bytes=20)),
)  # fmt: skip
FILE = "kernels/softmax.py"
RUN = record_of(EVENTS, file=FILE, number=12)


def test_plain_lines_are_those_of_the_golden_file():
    assert as_plain(EVENTS, file=FILE, number=12) == (GOLDEN / "report.txt").read_text()


@pytest.mark.parametrize(("flagged", "is_repeatable"), [(False, False), (True, True)])
def test_flagged_verdict_has_the_seed_of_its_inputs(*, flagged: bool, is_repeatable: bool) -> None:
    verdict = Verdict(outcome=Outcome.PASS, sentence="2/2 cases passed", passed=2, total=2, flagged=flagged)
    said = as_plain((RunFinished(at_s=0.4, verdict=verdict, draw_seed=7),), file=FILE)
    assert ("to draw the same inputs again: kgtui check FILE --seed 7" in said) is is_repeatable


def test_json_document_matches_golden_file():
    assert as_json(RUN) == (GOLDEN / "report.json").read_text()


def test_markdown_page_matches_golden_file():
    assert as_markdown(RUN) == (GOLDEN / "report.md").read_text()


def test_markdown_without_passed_cases_counts_them():
    text = as_markdown(RUN, with_passed_cases=False)
    assert "\n1/2 cases passed\n" in text
    assert "| 4x33 f32 |" not in text
    assert "| 7x781 f32 | wrong_value | return: 3 of 5467 wrong |" in text


def test_nondefault_policy_is_named_in_every_report():
    strict = dataclasses.replace(EVENTS[0], policy=Policy.STRICT)
    events = (strict, *EVENTS[1:])
    run = record_of(events, file=FILE)
    assert as_plain(events, file=FILE).splitlines()[0].endswith(", strict policy")
    assert json.loads(as_json(run))["policy"] == "strict"
    assert "\n- policy: strict\n" in as_markdown(run)
    assert "policy" not in as_plain(EVENTS, file=FILE) + as_markdown(RUN)


def test_given_seed_is_named_as_given():
    finished = dataclasses.replace(EVENTS[-2], seed_given=True)
    run = record_of((*EVENTS[:-2], finished), file=FILE)
    assert json.loads(as_json(run))["seed_given"] is True
    assert f"\n- seed: {2**61 - 1}, given\n" in as_markdown(run)


def test_run_that_passes_prints_no_seed():
    verdict = dataclasses.replace(EVENTS[-2].verdict, outcome=Outcome.PASS)
    assert "--seed" not in as_plain((*EVENTS[:-2], dataclasses.replace(EVENTS[-2], verdict=verdict)), file=FILE)


def test_every_plain_line_begins_with_two_words():
    for event in EVENTS:
        for line in plain_lines(event, file="kernel.py"):
            assert len(line.label.split()) == len(line.state.split()) == 1


def test_disassembly_is_listed_with_its_kernels_artefacts():
    (kernel,) = json.loads(as_json(RUN))["kernels"]
    assert [artefact["kind"] for artefact in kernel["artefacts"]] == ["ptx", "sass"]


def test_a_seed_keeps_all_of_its_digits():
    assert json.loads(as_json(RUN))["cases"][1]["seed"] == "18446744073709551615"


@pytest.mark.parametrize(("count", "words"), [(1, "1 case"), (2, "2 cases"), (1200, "1,200 cases")])
def test_cases_are_counted_in_singular_and_plural(count, words):
    started = dataclasses.replace(EVENTS[0], cases=count)
    verifying = StageStarted(at_s=0.1, stage=Stage.VERIFY, total=count)
    lines = as_plain((started, verifying), file="kernel.py").splitlines()
    assert lines[0].endswith(f"(A CPU [interpreter]), {words}, compiled for sm_90")
    assert lines[1] == f"verify   started {words}"


def test_unsaved_run_has_no_number():
    unkept = dataclasses.replace(RUN, number=None)
    assert json.loads(as_json(unkept))["run"] is None
    assert as_plain(EVENTS, file=FILE).startswith("run      started aten::softmax kernels/softmax.py on cpu ")


def test_a_flagged_pass_is_called_flagged():
    verdict = Verdict(outcome=Outcome.PASS, sentence="right, but", passed=1, total=1, flagged=True)
    assert word_of(verdict) == "flagged"


def test_a_run_without_its_end_is_refused():
    unfinished = record_of(EVENTS[:4])
    with pytest.raises(ValueError, match="the events hold no RunFinished"):
        as_json(unfinished)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [1, 2] text", "plain [1, 2] text"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb\nc", "a\\rb\\nc"),
        ("bell\x07, \x9b, \u202e", "bell\\x07, \\x9b, \\u202e"),
        ("tab\tkept as blanks", "tab    kept as blanks"),
        ("größer × 2", "größer × 2"),
        ("\udc80", "\\udc80"),
    ],
)
def test_control_characters_are_spelled_out(text, shown):
    assert printable(text) == shown


def test_values_not_finite_are_counted_with_separators():
    output = dataclasses.replace(WRONG, nonfinite_got=1200)
    event = next(event for event in EVENTS if isinstance(event, CaseFinished) and event.result.outputs)
    reported = dataclasses.replace(event, result=dataclasses.replace(event.result, outputs=(output,)))
    assert "return: not finite 1,200, expected 0\n" in as_plain((reported,), file="kernel.py")


def diagnosed(event):
    """The event with a diagnosis of the wrong output, if it has one."""
    if not isinstance(event, CaseFinished) or not event.result.outputs:
        return event
    found = Diagnosis(
        kind=DiagnosisKind.TAIL_MASK,
        sentence="the end is wrong",
        evidence="3 of 3 wrong elements are there",
        explained=3,
        wrong=3,
    )
    output = dataclasses.replace(WRONG, explanation=Explanation(diagnoses=(found,)))
    return dataclasses.replace(event, result=dataclasses.replace(event.result, outputs=(output,)))


LIKELY = "return: looks like tail mask: the end is wrong (explains all wrong elements; 3 of 3 wrong elements are there)"


def test_wrong_output_is_described_below_its_case():
    assert LIKELY in as_plain([diagnosed(event) for event in EVENTS], file="kernel.py")


def test_markdown_has_the_diagnosis_of_each_case():
    page = as_markdown(record_of([diagnosed(event) for event in EVENTS], file=FILE))
    assert "| case | outcome | what happened | likely cause |" in page
    assert f"| 7x781 f32 | wrong_value | return: 3 of 5467 wrong | {LIKELY} |" in page
