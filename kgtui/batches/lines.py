"""A batch as plain lines: one for each result, and one at the end."""

from __future__ import annotations

from collections.abc import Sequence

from kgtui.batches.figures.agreement import agreements_of
from kgtui.batches.figures.weak_operators import weak_text
from kgtui.batches.results import CandidateResult, Counts, counts_of


def result_line(result: CandidateResult, *, number: int, total: int) -> str:
    """Line of one result: its number among all, the verdict, its run and the reason."""
    candidate, run = result.row.candidate, result.run
    parts = [f"[{number}/{total}] {result.word:<13} {candidate.name}"]
    if candidate.problem:
        parts.append(f"{candidate.problem} sample {candidate.sample}")
    if run is not None:
        speedup = f" {run.speedup:.2f}x" if run.speedup is not None else ""
        parts.append(f"run #{run.number}{speedup}")
    return f"{'  '.join(parts)}: {result.explanation}" if result.explanation else "  ".join(parts)


def ending_text(batch: int, results: Sequence[CandidateResult], *, is_running: bool = False) -> str:
    """Summary of a batch in one line; after an early end, with the command that runs the rest."""
    counts = counts_of(results)
    left = sum(not result.row.is_done for result in results)
    text = f"batch {batch}: {len(results) - left}/{len(results)} candidates: {counts_text(counts)}"
    otherwise = agreements_of(results).disagreements
    if otherwise:
        text += f", {otherwise} with another result under the suite's own rule"
    if weak := weak_text(results):
        text += f"; {weak}"
    advice = "" if is_running else ", the same command with --resume runs the rest"
    return f"{text}; {left} left{advice}" if left else text


def counts_text(counts: Counts) -> str:
    """Counts by outcome; outcomes without a candidate are left out, except passed."""
    parts = [f"{counts.passed} passed" + (f" ({counts.proven} proven)" if counts.proven else "")]
    named = (("failed", counts.failed), ("flagged", counts.flagged), ("not run", counts.not_run))
    return ", ".join([*parts, *(f"{number} {word}" for word, number in named if number)])


def duration_text(seconds: float) -> str:
    """Remaining time: "45 s", "12 min", "1 h 40 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
