"""The verdict on a generated or listed candidate, joined to the row that names its run."""

from __future__ import annotations

import sqlite3

from engine.model import Outcome
from sessions.candidates.generation_rows import RunResult

RUN_COLUMNS = """
    runs.outcome as run_outcome, runs.sentence as run_sentence, runs.flagged as run_flagged,
    runs.passed as run_passed, runs.proven as run_proven, runs.total as run_total, runs.elapsed_s as run_elapsed_s,
    runs.rule_calls as run_rule_calls, runs.rule_passed as run_rule_passed,
    (select coalesce(sum(benchmarks.elapsed_s), 0) from benchmarks where benchmarks.run = runs.id) as run_benchmark_s,
    summaries.speedup as run_speedup"""
RUN_SUMMARY = """
left join summaries on summaries.run = runs.id and summaries.baseline = 'eager'
    and runs.outcome = 'pass' and runs.flagged = 0"""


def run_result(row: sqlite3.Row) -> RunResult | None:
    """Result of the run in a row with `RUN_COLUMNS`; None if it has none."""
    if row["run"] is None:
        return None
    return RunResult(
        number=row["run"],
        outcome=Outcome(row["run_outcome"]) if row["run_outcome"] else None,
        sentence=row["run_sentence"] or "",
        flagged=bool(row["run_flagged"]),
        passed=row["run_passed"],
        total=row["run_total"],
        elapsed_s=row["run_elapsed_s"],
        benchmark_s=row["run_benchmark_s"],
        speedup=row["run_speedup"],
        proven=row["run_proven"],
        rule_calls=row["run_rule_calls"],
        rule_passed=row["run_rule_passed"],
    )
