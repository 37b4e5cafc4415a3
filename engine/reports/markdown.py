"""A run as one Markdown page, for a pull request or a report.

Decides nothing: the verdict is the one of the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import CaseResult, Outcome, Policy
from engine.reports.bench import bench_cells, cost_rows, failure_of, resource_rows
from engine.reports.output import diagnosis_lines
from engine.reports.printable import printable
from engine.reports.profile import NO_PROFILE, profile_rows
from engine.reports.remarks import remarks_on
from engine.reports.run_record import RunRecord
from engine.reports.text import numbered
from engine.reports.verdict_words import word_of


def as_markdown(run: RunRecord, *, with_profile: bool = False, with_passed_cases: bool = True) -> str:
    """A page for a pull request or a report: the verdict, the cases, the map of the first wrong output, the rest.

    Without passed cases they are a count.
    """
    verdict = run.final
    place = f" (line {verdict.location.line})" if verdict.location else ""
    lines = [
        f"# {run.problem}: {word_of(verdict)}",
        "",
        f"{_cell(verdict.sentence)}{place}",
        "",
        f"- file: `{_cell(run.file)}`{numbered(run.number)}, SHA-256 `{run.digest}`",
        f"- device: {run.device}, {_cell(run.device_name)}",
        f"- compiled for: {run.target or 'nothing'}",
        *([f"- policy: {run.policy}"] if run.policy is not Policy.DEFAULT else []),
        *([f"- seed: {run.draw_seed}, {'given' if run.seed_given else 'random'}"] if run.draw_seed is not None else []),
        "",
    ]
    shown = [case for case in run.cases if with_passed_cases or case.outcome is not Outcome.PASS]
    if len(shown) < len(run.cases):
        lines += [f"{len(run.cases) - len(shown)}/{len(run.cases)} cases passed", ""]
    lines += _case_lines(shown)
    wrong = next((output for case in run.cases for output in case.outputs if output.error_map), None)
    if wrong is not None:
        legend = "`.` no wrong element, `1` to `9` the wrong share in tenths, `#` all wrong"
        lines += [f"Error map of `{wrong.name}`, one character per tile: {legend}", ""]
        lines += ["```text", *wrong.error_map, "```", ""]
    findings = [(f.severity, f.check, str(f.location.line) if f.location else "", f.message) for f in run.findings]
    lines += _table(("severity", "check", "line", "finding"), findings)
    lines += [*_benchmark_lines(run), *(_rows(resource_rows(run.kernels)) if run.kernels else [])]
    if run.kernels_left_out:
        lines += [f"{run.kernels_left_out} of {run.kernels_planned} kernels were not compiled", ""]
    if with_profile:
        lines += ["## Profile", "", *(_rows(profile_rows(run)) or [f"- {NO_PROFILE}", ""])]
    return "\n".join(lines)


def _case_lines(cases: Sequence[CaseResult]) -> list[str]:
    """The table of cases, with a column for diagnoses if there are any."""
    likely = ["; ".join(line for output in case.outputs for line in diagnosis_lines(output)) for case in cases]
    rows = [(case.case, case.outcome, case.message) for case in cases]
    header = ("case", "outcome", "what happened")
    if not any(likely):
        return _table(header, rows)
    return _table((*header, "likely cause"), [(*row, cause) for row, cause in zip(rows, likely, strict=True)])


def _benchmark_lines(run: RunRecord) -> list[str]:
    """Lines on timed cases and their credibility; for others only their least work."""
    benchmarks = run.benchmark_report
    if not benchmarks.cases:
        return ["## Not timed", "", *_rows(cost_rows(run.costs))] if run.costs else []
    rows = [tuple(bench_cells(case, benchmarks).items()) for case in benchmarks.right]
    header = tuple(name for name, _ in rows[0]) if rows else ()
    lines = ["## Benchmark", "", *_table(header, [tuple(cell for _, cell in row) for row in rows])]
    failed = [case for case in benchmarks.cases if case not in benchmarks.right]
    lines += _table(("case", "not timed"), [(case.case, failure_of(case)) for case in failed])
    remarks = [f"- {_cell(remark.label)}: {_cell(remark.text)}" for remark in remarks_on(benchmarks)]
    return [*lines, *remarks, ""] if remarks else lines


def _rows(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A table whose first row is its header."""
    return _table(rows[0], rows[1:]) if rows else []


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A Markdown table; nothing if it would be empty."""
    if not rows:
        return []
    return [*(f"| {' | '.join(map(_cell, cells))} |" for cells in (header, ("---",) * len(header), *rows)), ""]


def _cell(text: str) -> str:
    """Any text on one line of a table, with bars and tags escaped."""
    return printable(" ".join(text.split())).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
