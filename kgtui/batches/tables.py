"""The tables of a batch, for every report format; cells are text."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.counts import counted
from kgtui.batches.figures.agreement import Agreement, rule_text
from kgtui.batches.figures.summary import Group, Summary
from kgtui.batches.results import CandidateResult
from kgtui.generation.reports.tables import NOT_MEASURED, Table, interval_text

_KS = (1, 5, 10)
_RATES = (
    "candidates", "operators", "compiled", "correct", "proven", "flagged", "pass@1", "pass@5", "pass@10",
    "speed-up (correct)", "speed-up (all)", "unsolved",
)  # fmt: skip


def summary_tables(summary: Summary) -> tuple[Table, ...]:
    """Every table of the summary that has rows."""
    tables = (
        _rates_table(summary),
        _weak_table(summary),
        _rule_table(summary),
        _fast_table(summary),
        _headline_table(summary),
    )
    return tuple(table for table in tables if table.rows)


def results_table(results: Sequence[CandidateResult]) -> Table:
    """A row for each candidate."""
    return Table(
        title="Candidates",
        header=(
            "candidate",
            "operator",
            "sample",
            "verdict",
            "cases",
            "proven",
            "suite's rule",
            "speed-up",
            "run",
            "reason",
        ),
        rows=tuple(map(_result_row, results)),
        note="cases passed of all; compared calls that pass the suite's own rule, ! where kgtui differs; "
        "speed-up over eager",
    )


def _result_row(result: CandidateResult) -> tuple[str, ...]:
    run, candidate = result.run, result.row.candidate
    return (
        candidate.name,
        candidate.problem or NOT_MEASURED,
        str(candidate.sample),
        result.word,
        NOT_MEASURED if run is None else f"{run.passed}/{run.total}",
        NOT_MEASURED if run is None or run.proven is None else str(run.proven),
        rule_text(result) or NOT_MEASURED,
        NOT_MEASURED if run is None or run.speedup is None else f"{run.speedup:.2f}x",
        NOT_MEASURED if run is None else f"#{run.number}",
        result.explanation,
    )


def _rates_table(summary: Summary) -> Table:
    ours = summary.all.not_counted
    left_out = f"; not counted: {counted(ours, 'candidate')} without a verdict" if ours else ""
    return Table(
        title="Summary",
        header=("group", *_RATES),
        rows=tuple(map(_rates_row, summary.groups)),
        note=f"95 % bootstrap intervals over operators; a failure counts as the baseline in speed-up (all){left_out}",
    )


def _rates_row(group: Group) -> tuple[str, ...]:
    rates, counts = group.rates, group.counts
    return (
        group.name,
        str(group.candidates),
        str(rates.operators),
        NOT_MEASURED if rates.compiled is None else f"{rates.compiled:.0%}",
        interval_text(rates.correct, percent=True),
        f"{counts.proven}/{counts.passed}",
        str(counts.flagged),
        *(interval_text(rates.pass_at.get(k), percent=True) for k in _KS),
        interval_text(rates.speedup_correct),
        interval_text(rates.speedup_all),
        str(rates.unsolved),
    )


def _weak_table(summary: Summary) -> Table:
    """Table of the weak operators; no rows if an audit found none."""
    return Table(
        title="Operators that accept wrong candidates",
        header=("operator", "candidates", "passed", "audit"),
        rows=tuple((one.operator, str(one.candidates), str(one.passed), one.weakness) for one in summary.weak),
        note=f"{len(summary.weak)} of {summary.operators} operators: a candidate that passed there may be wrong; "
        "an operator that was not audited is not listed",
    )


def _rule_table(summary: Summary) -> Table:
    """Candidates on which the suites' own rules disagree; no rows if no suite's rule was applied."""
    return Table(
        title="Own rules of the suites",
        header=("group", "compared", "different", *Agreement),
        rows=tuple(_rule_row(group) for group in summary.groups if group.agreements.compared),
        note="candidates by the suite's own rule on the same calls, beside the verdict of kgtui; a flag is a rejection",
    )


def _rule_row(group: Group) -> tuple[str, ...]:
    found = group.agreements
    by_kind = (found.both_pass, found.suite_only, found.ours_only, found.neither)
    return (group.name, *map(str, (found.compared, found.disagreements, *by_kind)))


def _fast_table(summary: Summary) -> Table:
    thresholds = sorted(summary.all.rates.fast)
    rows = tuple(
        (group.name, *(interval_text(group.rates.fast.get(p), percent=True) for p in thresholds))
        for group in summary.groups
    )
    return Table(
        title="fast_p",
        header=("group", *(f"p = {p:g}" for p in thresholds)),
        rows=rows if len(thresholds) > 1 else (),
        note="share of candidates that are correct and more than p times as fast as eager; p = 0 is correctness",
    )


def _headline_table(summary: Summary) -> Table:
    return Table(
        title="Metrics of the suites",
        header=("suite", "metric", "value", "formula"),
        rows=tuple(
            (one.suite, one.metric, _value_text(one.value, is_share=one.is_share), one.formula)
            for one in summary.headlines
        ),
        note="the published formula of each suite, over the verdicts of kgtui",
    )


def _value_text(value: float | None, *, is_share: bool) -> str:
    if value is None:
        return "not measured"
    return f"{value:.1%}" if is_share else f"{value:.2f}x"
