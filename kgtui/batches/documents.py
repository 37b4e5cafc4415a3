"""A batch as JSON lines, CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from kgtui.batches.figures.agreement import agreement_of
from kgtui.batches.figures.summary import Group, Summary, summary_of
from kgtui.batches.results import CandidateResult
from kgtui.batches.tables import results_table, summary_tables
from kgtui.generation.reports.charts import correct_bars, fast_chart
from kgtui.generation.reports.documents import plain_rates
from kgtui.generation.reports.page import html_page, markdown_page
from kgtui.generation.reports.tables import text_of

JSON_SCHEMA = "kgtui.batch/1"
_CSV_HEADER = (
    "candidate", "operator", "category", "sample", "run", "verdict", "passed", "total", "proven",
    "rule_passed", "rule_calls", "agreement", "speedup", "elapsed_s", "reason", "weakness", "line", "column",
    "diagnosis",
)  # fmt: skip

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def as_text(results: Sequence[CandidateResult]) -> str:
    """The summary for a terminal."""
    return "\n\n".join(map(text_of, summary_tables(summary_of(results))))


def as_markdown(results: Sequence[CandidateResult], *, title: str) -> str:
    """One Markdown page: the summary, then every candidate."""
    return markdown_page((*summary_tables(summary_of(results)), results_table(results)), title=title)


def as_html(results: Sequence[CandidateResult], *, title: str) -> str:
    """One HTML file with the same, which loads nothing from elsewhere."""
    summary = summary_of(results)
    fast = fast_chart([(group.name, group.rates.fast) for group in summary.groups[:1]])
    return html_page(
        title=title,
        tables=(*summary_tables(summary), results_table(results)),
        bars=(correct_bars([(group.name, group.rates.correct) for group in summary.groups]),),
        charts=() if fast is None else (fast,),
    )


def as_csv(results: Sequence[CandidateResult], *, title: str) -> str:
    """A row for each candidate; missing values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV_HEADER)
    for result in results:
        plain = plain_result(result)
        writer.writerow("" if plain[name] is None else plain[name] for name in _CSV_HEADER)
    return out.getvalue().rstrip("\n")


def as_json_lines(results: Sequence[CandidateResult], *, title: str) -> str:
    """A line for each candidate, then the summary."""
    return "\n".join((*map(json_line, results), summary_line(results)))


def json_line(result: CandidateResult) -> str:
    """One candidate as a JSON object on one line."""
    return msgspec.json.encode({"schema": JSON_SCHEMA, "kind": "result", **plain_result(result)}).decode()


def summary_line(results: Sequence[CandidateResult]) -> str:
    """The summary as a JSON object on one line; what was not measured is null."""
    return msgspec.json.encode(
        {"schema": JSON_SCHEMA, "kind": "summary", **_plain_summary(summary_of(results))}
    ).decode()


def plain_result(result: CandidateResult) -> Plain:
    """The fields of a candidate; null where there is nothing."""
    run, candidate, location = result.run, result.row.candidate, result.row.location
    return {
        "candidate": candidate.name,
        "operator": candidate.problem or None,
        "category": result.category,
        "sample": candidate.sample,
        "digest": result.digest,
        "run": run.number if run is not None else None,
        "verdict": result.word,
        "outcome": run.outcome if run is not None else None,
        "flagged": run.flagged if run is not None else None,
        "passed": run.passed if run is not None else None,
        "total": run.total if run is not None else None,
        "proven": run.proven if run is not None else None,
        "rule_passed": run.rule_passed if run is not None else None,
        "rule_calls": run.rule_calls if run is not None else None,
        "agreement": agreement_of(result),
        "speedup": run.speedup if run is not None else None,
        "elapsed_s": run.elapsed_s if run is not None else None,
        "reason": result.sentence,
        "line": location.line if location is not None else None,
        "column": location.column if location is not None else None,
        "diagnosis": result.diagnosis or None,
        "weakness": result.weakness or None,
    }


def _plain_summary(summary: Summary) -> Plain:
    return {
        "groups": [_plain_group(group) for group in summary.groups],
        "headlines": [msgspec.to_builtins(one) for one in summary.headlines],
        "weak_operators": [msgspec.to_builtins(one) for one in summary.weak],
    }


def _plain_group(group: Group) -> Plain:
    return {
        "kind": group.kind,
        "name": group.name,
        "candidates": group.candidates,
        "not_counted": group.not_counted,
        "operators": group.rates.operators,
        "unsolved": group.rates.unsolved,
        "counts": msgspec.to_builtins(group.counts),
        "agreements": msgspec.to_builtins(group.agreements) if group.agreements.compared else None,
        **plain_rates(group.rates),
    }


WRITERS: Mapping[str, Callable[..., str]] = {
    ".jsonl": as_json_lines,
    ".csv": as_csv,
    ".md": as_markdown,
    ".html": as_html,
}
"""The document for each suffix of a file; a function of results and title."""
