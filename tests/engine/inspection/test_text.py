"""The four formats of an inspection, against files that are reviewed like code; and what must never get out."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from engine.inspection.evidence import Inspection, inspect
from engine.inspection.html import as_html
from engine.inspection.page import page_of
from engine.inspection.speedup_claim import Claim
from engine.inspection.text import WIDTH, as_json, as_markdown, page_lines
from engine.model import (
    CacheState,
    Case,
    CaseResult,
    CompiledKernel,
    Cost,
    Diagnosis,
    DiagnosisKind,
    DType,
    Explanation,
    Finding,
    Launch,
    Location,
    Outcome,
    OutputReport,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
    Verdict,
)
from engine.model.benchmark import (
    CANDIDATE,
    Bound,
    CaseBenchmark,
    Comparison,
    Floor,
    Interval,
    Method,
    Standing,
    Summary,
    Timing,
)
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseFinished,
    CaseProven,
    Event,
    FindingRaised,
    KernelCompiled,
    LayerChecked,
    RunFinished,
    RunStarted,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.proof import CaseProof, Gap
from engine.reports.reducer import record_of

GOLDEN = Path(__file__).parent / "golden"

HOSTILE = "</pre><script src=//a>|`*x*`[b](c) {{x}}\x1b[2J\u202e"
SOURCE = "import torch\n\ndef relu(x):\n    return torch.relu(x)  # <b> & `x` | [bold]\n"
CASES = (
    Case(name="4x33 f32", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={"shape": (4, 33), "layout": "contiguous"}),
    Case(name="0x7 f16", dtype=DType.FLOAT16, tier=Tier.FULL, params={"shape": (0, 7), "layout": "strided"}),
    Case(name="4096x4096 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={"shape": (4096, 4096)}),
)
PROBLEM = ProblemDefinition(
    name="aten::relu",
    entry="relu",
    signature="relu(x)",
    summary="",
    category="",
    cases=CASES,
    make_inputs=lambda case, rng: (),
    reference=lambda x: x,
    eager=lambda x: x,
    tolerance=lambda case: Tolerance(relative=0, absolute=0),
    cost=lambda case: Cost(flops=0, bytes_read=0, bytes_written=0),
).problem("toy_problems")
LAUNCH = Launch(
    kernel="relu_kernel", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(7,), line=2
)
KERNEL = CompiledKernel(
    launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.09, registers=22, spill_bytes=0, shared_bytes=0
)


def around(value: float, half: float) -> Interval:
    return Interval(value=value, low=value - half, high=value + half)


TIMED = CaseBenchmark(
    case="4096x4096 f32",
    outcome=Outcome.PASS,
    cache=CacheState.COLD,
    elapsed_s=1.1,
    timing=Timing(side=CANDIDATE, method=Method.CUPTI, device_us=around(51.2, 0.4), call_us=around(60.1, 0.5)),
    comparisons=(Comparison(baseline="eager", speedup=around(1.92, 0.03), resolution=0.011, standing=Standing.FASTER),),
    ratio_to_self=around(1.001, 0.006),
    calls=240,
    verified=240,
    launches=(LAUNCH,),
    floor=Floor(
        floor_us=42.5,
        bound=Bound.MEMORY,
        bandwidth_bytes_per_s=3e12,
        peak_flops_per_s=5e13,
        precision="float32",
        percent=83.0,
    ),
)
SUMMARY = Summary(baseline="eager", speedup=around(1.92, 0.03), cases=1, planned=1, fast={"1.0": 1, "2.0": 0})


def passed(case: Case, outcome: Outcome = Outcome.PASS, message: str = "") -> CaseResult:
    return CaseResult(case=case.name, tier=case.tier, outcome=outcome, elapsed_s=0.1, calls=3, seed=1, message=message)


def layer(layer: Layer, by: str, coverage: Coverage, why: str = "", **facts: str) -> LayerReport:
    reported = tuple(Fact(name=name.replace("_", " "), value=value) for name, value in facts.items())
    return LayerReport(layer=layer, by=by, coverage=coverage, why=why, facts=reported)


def started(device: str, device_name: str) -> RunStarted:
    return RunStarted(
        at_s=0.0,
        problem="aten::relu",
        digest="ab" * 32,
        device=device,
        device_name=device_name,
        target="sm_90",
        cases=2,
    )


def inspected(*events: Event, claim: Claim | None = None, file: str = "kernels/relu.py") -> Inspection:
    return inspect(
        record_of(events, file=file, number=12),
        problem=PROBLEM,
        source=SOURCE,
        claim=claim,
        versions={"kgtui": "0.2.0", "torch": "2.13.0", "triton": "3.9.0"},
        inspected_at="2026-03-14T15:02:10+00:00",
    )


NOT_SO_FAST = inspected(
    started("cuda", "A GPU"),
    LayerChecked(at_s=0.1, report=layer(Layer.STATIC, "checks", Coverage.CHECKED, checks="38", patterns="1")),
    FindingRaised(
        at_s=0.1,
        finding=Finding(
            check="torch_compute",
            severity=Severity.HINT,
            message="torch.relu computes as much as the answer",
            location=Location(line=4, column=12),
            case="4x33 f32",
        ),
    ),
    *(CaseFinished(at_s=0.2, number=1, total=2, result=passed(case)) for case in CASES[:2]),
    KernelCompiled(at_s=0.3, number=1, total=1, kernel=KERNEL),
    CaseBenchmarked(at_s=0.4, number=1, total=1, benchmark=TIMED),
    BenchmarkSummarised(at_s=0.5, summaries=(SUMMARY,)),
    LayerChecked(at_s=0.5, report=layer(Layer.TIMING, "timing", Coverage.CHECKED, cases_timed="1 of 1")),
    LayerChecked(at_s=0.6, report=layer(Layer.BEHAVIOUR, "behaviour", Coverage.CHECKED, actions="none")),
    LayerChecked(
        at_s=0.6,
        report=layer(Layer.ABLATION, "ghost_replay", Coverage.CHECKED, relu_kernel="line 2: 0% is right without"),
    ),
    LayerChecked(at_s=0.6, report=layer(Layer.INPUTS, "new_content", Coverage.CHECKED)),
    LayerChecked(at_s=0.6, report=layer(Layer.INPUTS, "other_storage", Coverage.NOT_ASKED, "it was not chosen")),
    LayerChecked(at_s=0.6, report=layer(Layer.DEVICE_RECORD, "device_record", Coverage.NOT_AVAILABLE, "no CUPTI here")),
    CaseProven(at_s=1.8, number=1, total=2, proof=CaseProof(case=CASES[0].name, moved_bytes=256)),
    CaseProven(
        at_s=1.9,
        number=2,
        total=2,
        proof=CaseProof(case=CASES[1].name, gap=Gap.TORCH, reason="torch computes: aten::mm (line 12)"),
    ),
    RunFinished(at_s=2.4, verdict=Verdict(outcome=Outcome.PASS, sentence="right on 2 of 2 cases", passed=2, total=2)),
    claim=Claim(speedup=2.3),
)
UNCLEARED = inspected(
    started("cpu", "A CPU (TTIR machine)"),
    LayerChecked(at_s=0.1, report=layer(Layer.STATIC, "checks", Coverage.CHECKED, checks="38")),
    FindingRaised(
        at_s=0.2,
        finding=Finding(
            check="behaviour", severity=Severity.SUSPECT, message=f"replaced {HOSTILE}", location=Location(line=4)
        ),
    ),
    CaseFinished(at_s=0.2, number=1, total=2, result=passed(CASES[0])),
    CaseFinished(at_s=0.2, number=2, total=2, result=passed(CASES[1], Outcome.RUNTIME_ERROR, f"raised {HOSTILE}")),
    LayerChecked(at_s=0.3, report=layer(Layer.BEHAVIOUR, "behaviour", Coverage.NOT_CHECKED, f"it said {HOSTILE}")),
    LayerChecked(at_s=0.3, report=layer(Layer.ABLATION, HOSTILE, Coverage.CHECKED, **{HOSTILE: HOSTILE})),
    RunFinished(
        at_s=2.4,
        verdict=Verdict(
            outcome=Outcome.RUNTIME_ERROR, sentence=f"case 0x7 f16 failed: raised {HOSTILE}", passed=1, total=2
        ),
    ),
    claim=Claim(speedup=2.3, baseline="compile"),
    file=f"kernels/{HOSTILE}.py",
)


def as_plain(inspection: Inspection) -> str:
    """The lines of the page as `kgtui inspect` prints them."""
    return "".join(f"{line}\n" for line in page_lines(page_of(inspection), width=WIDTH))


@pytest.mark.parametrize(
    ("make", "ending"),
    [(as_plain, "txt"), (as_json, "json"), (as_markdown, "md"), (as_html, "html")],
    ids=["plain", "json", "markdown", "html"],
)
@pytest.mark.parametrize(
    ("inspection", "name"), [(NOT_SO_FAST, "inspection"), (UNCLEARED, "inspection_hostile")], ids=["timed", "hostile"]
)
def test_each_format_is_that_of_its_golden_file(make, ending, inspection, name):
    assert make(inspection) == (GOLDEN / f"{name}.{ending}").read_text()


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("inspection", [NOT_SO_FAST, UNCLEARED], ids=["timed", "hostile"])
def test_page_fits_the_terminal_width(inspection, width):
    lines = [str(line) for line in page_lines(page_of(inspection), width=width)]
    assert [line for line in lines if len(line) > width] == []


def test_finding_lines_include_their_source_line():
    about = [str(line) for line in page_lines(page_of(NOT_SO_FAST), width=80) if line.line == 4]
    assert about[0] == "  torch_compute  hint  torch.relu computes as much as the answer (case 4x33 f32)"
    assert about[-1].strip() == "> return torch.relu(x) # <b> & `x` | [bold]"


def test_no_control_character_of_a_candidate_gets_out():
    for text in (as_plain(UNCLEARED), as_markdown(UNCLEARED), as_html(UNCLEARED)):
        assert [char for char in text if char != "\n" and not char.isprintable()] == []


DIAGNOSIS = Diagnosis(
    kind=DiagnosisKind.MISSING_SCALE, sentence="exp2 used instead of exp", evidence="3 match", explained=3, wrong=3
)
DIAGNOSED = inspected(
    started("cpu", "A CPU"),
    CaseFinished(
        at_s=0.2,
        number=1,
        total=2,
        result=dataclasses.replace(
            passed(CASES[0], Outcome.WRONG_VALUE, "return: 3 of 132 wrong"),
            outputs=(
                OutputReport(
                    name="return",
                    outcome=Outcome.WRONG_VALUE,
                    explanation=Explanation(diagnoses=(DIAGNOSIS, DIAGNOSIS)),
                ),
            ),
        ),
    ),
    RunFinished(at_s=2.4, verdict=Verdict(outcome=Outcome.WRONG_VALUE, sentence="case failed", passed=1, total=2)),
)
LOCATED = inspected(
    started("cpu", "A CPU"),
    RunFinished(
        at_s=2.4,
        verdict=Verdict(
            outcome=Outcome.COMPILE_ERROR,
            sentence="syntax error: invalid syntax",
            passed=0,
            total=2,
            location=Location(line=98, column=7),
        ),
    ),
)


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (
            as_plain,
            [
                "  4x33 f32  wrong value  return: 3 of 132 wrong",
                "                         return: looks like missing scale: exp2 used instead of",
                "                           exp (explains all wrong elements; 3 match)",
            ],
        ),
        (
            as_markdown,
            [
                "- **4x33 f32** (wrong value): return: 3 of 132 wrong",
                "  - return: looks like missing scale: exp2 used instead of exp (explains all wrong elements; 3 match)",
            ],
        ),
        (
            as_html,
            [
                '<tr><th scope="row">4x33 f32</th><td class="state bad">wrong value</td><td>return: 3 of 132 wrong'
                '<ul class="details"><li>return: looks like missing scale: exp2 used instead of exp '
                "(explains all wrong elements; 3 match)</li></ul></td></tr>"
            ],
        ),
    ],
    ids=["plain", "markdown", "html"],
)
def test_failed_case_is_followed_by_its_diagnosis(make, lines):
    page = make(DIAGNOSED).splitlines()
    at = page.index(lines[0])
    assert page[at : at + len(lines)] == lines


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (as_plain, "kernels/relu.py:98:7: syntax error: invalid syntax"),
        (as_markdown, "**kernels/relu.py:98:7: syntax error: invalid syntax**"),
        (as_html, "<p>kernels/relu.py:98:7: syntax error: invalid syntax</p>"),
    ],
    ids=["plain", "markdown", "html"],
)
def test_verdict_is_preceded_by_its_location(make, line):
    assert make(LOCATED).splitlines().count(line) == 1


@pytest.mark.parametrize(("unproven", "words"), [(2, "and 1 more case"), (3, "and 2 more cases")])
def test_unproven_cases_of_one_reason_are_counted(unproven, words):
    proofs = [CaseProof(case=f"c{number}", gap=Gap.TORCH, reason="torch computes") for number in range(unproven)]
    events = [CaseProven(at_s=1.0, number=1, total=unproven, proof=proof) for proof in proofs]
    proof, *_ = page_of(inspected(started("cpu", "A CPU"), *events)).sections
    assert [entry.details for entry in proof.entries] == [(words,)]


def test_failed_case_is_preceded_by_its_location():
    failed = dataclasses.replace(passed(CASES[0], Outcome.RUNTIME_ERROR, "raised"), location=Location(line=4))
    page = as_plain(inspected(started("cpu", "A CPU"), CaseFinished(at_s=0.2, number=1, total=2, result=failed)))
    assert "  4x33 f32  runtime error  kernels/relu.py:4: raised" in page.splitlines()


def test_document_without_claim_or_date_has_nulls():
    bare = dataclasses.replace(NOT_SO_FAST, claim=None, inspected_at=None, versions={})
    document = json.loads(as_json(bare))
    assert (document["claim"], document["inspected_at"], document["versions"]) == (None, None, {})
    assert document["schema"] == "kgtui.inspect/1"
    assert "inspected at" not in as_plain(bare)
    assert "claim" not in as_plain(bare).splitlines()[4]


class Elements(HTMLParser):
    """Every tag and attribute of a page, and whether each tag is closed in its turn."""

    EMPTY = frozenset({"meta"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def hostile_page() -> Elements:
    elements = Elements()
    elements.feed(as_html(UNCLEARED))
    return elements


def test_page_has_only_known_balanced_tags(hostile_page):
    assert hostile_page.open == []
    assert hostile_page.tags <= {
        "html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "p", "div", "span",
        "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code",
    }  # fmt: skip


def test_page_has_no_external_reference_and_no_script(hostile_page):
    assert hostile_page.attributes == {"lang", "charset", "http-equiv", "content", "name", "class", "scope"}
    assert "url(" not in as_html(UNCLEARED)
    assert "@import" not in as_html(UNCLEARED)
    assert "default-src 'none'" in as_html(UNCLEARED)


def test_candidate_text_is_escaped_on_the_page(hostile_page):
    assert "</pre><script src=//a>|`*x*`[b](c) {{x}}\\x1b[2J\\u202e" in hostile_page.text
    assert "return torch.relu(x)  # <b> & `x` | [bold]" in hostile_page.text
