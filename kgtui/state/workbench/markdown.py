"""A run as Markdown, which `Y` copies to the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model import CaseResult, Outcome
from kgtui.state.bench.benchmarks import ratio_span, roofline_span, summary_lines, time_span
from kgtui.state.bench.measurements import measured
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, outcome_words
from kgtui.state.format.lines import plain_text
from kgtui.state.format.numbers import error, seconds
from kgtui.state.run.cases import case_detail, largest, max_errors

if TYPE_CHECKING:
    from engine.reports.run_record import RunRecord
    from kgtui.state.workbench.status import StripContext

_DETAILED = 3


def run_markdown(view: RunRecord, strip_context: StripContext, *, glyphs: Glyphs) -> str:
    """The whole result: verdict, cases, why the first ones failed, findings, kernels."""
    number_of = f" (run #{strip_context.number})" if strip_context.number is not None else ""
    lines = [f"### {view.problem}: {_word(view)}{number_of}", ""]
    if view.verdict:
        lines += [view.verdict.sentence, ""]
    where = f"{view.device_name or view.device}{f', compiled for {view.target}' if view.target else ''}"
    lines += [f"- file `{strip_context.filename}`, sha256 `{view.digest[:12]}`", f"- device {where}", ""]
    lines += ["| case | outcome | wrong | max abs | ulp | took |", "|---|---|---|---|---|---|"]
    lines += [_case(result, glyphs) for result in view.cases]
    for result in view.failed[:_DETAILED]:
        lines += ["", "```text", plain_text(case_detail(result, glyphs=glyphs)), "```"]
    if view.findings:
        lines += ["", "Findings:", ""]
    for found in view.findings:
        place = f"line {found.location.line}: " if found.location else ""
        lines.append(f"- {found.severity}, {found.check}: {place}{found.message}")
    lines += _benchmarks(view, glyphs)
    if view.kernels:
        lines += ["", "| kernel | target | registers | spill | shared |", "|---|---|---|---|---|"]
    for kernel in view.kernels:
        resources = (kernel.registers, kernel.spill_bytes, kernel.shared_bytes)
        cells = " | ".join(glyphs.dash if value is None else str(value) for value in resources)
        lines.append(f"| {_cell(kernel.launch.kernel)} | {kernel.target} | {cells} |")
    if view.kernels_left_out:
        lines += ["", f"{view.kernels_left_out} of {view.kernels_planned} kernels were not compiled"]
    return "\n".join(lines) + "\n"


def _benchmarks(view: RunRecord, glyphs: Glyphs) -> list[str]:
    """The table of timed cases, and their summary."""
    if not view.benchmarks:
        return []
    measurements = measured(view, number=None)
    ratios = "".join(f" {glyphs.times} {name} |" for name in measurements.baselines)
    lines = ["", f"| case | device {glyphs.micro}s | call {glyphs.micro}s |{ratios} roofline | L2 |"]
    lines.append("|---" * (5 + len(measurements.baselines)) + "|")
    for one in measurements.cases:
        timing = one.benchmark.timing
        call = numbers.short(timing.call_us.value) if timing and timing.call_us else glyphs.dash
        ratio_cells = [ratio_span(one, name, glyphs).text for name in measurements.baselines]
        cells = (
            _cell(one.case),
            time_span(one.benchmark, glyphs).text,
            call,
            *ratio_cells,
            roofline_span(one.benchmark, glyphs).text,
            one.benchmark.cache,
        )
        lines.append(f"| {' | '.join(cells)} |")
    summaries = plain_text(summary_lines(measurements, glyphs=glyphs))
    return [*lines, *([""] if summaries else []), *(f"- {text}" for text in summaries.splitlines())]


def _word(view: RunRecord) -> str:
    if view.verdict is None:
        return "not finished"
    return "flagged" if view.verdict.flagged else outcome_words(view.verdict.outcome)


def _case(result: CaseResult, glyphs: Glyphs) -> str:
    wrong = sum(report.mismatched for report in result.outputs)
    found = [max_errors(report) for report in result.outputs]
    errors = [absolute for absolute, _, _ in found if absolute is not None]
    ulps = [ulp for _, _, ulp in found if ulp is not None]
    word = outcome_words(result.outcome) if result.outcome is not Outcome.PASS else "pass"
    cells = (
        _cell(result.case),
        word,
        f"{wrong:,}",
        error(largest(errors)) if errors else glyphs.dash,
        error(largest(ulps)) if ulps else glyphs.dash,
        seconds(result.elapsed_s),
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
