"""A batch as rows and lines of the Batch screen."""

from __future__ import annotations

from collections.abc import Sequence

from kgtui.batches.figures.agreement import agreement_of, rule_text
from kgtui.batches.lines import counts_text, duration_text, ending_text
from kgtui.batches.results import BatchProgress, CandidateResult, counts_of
from kgtui.batches.typed import EXAMPLE
from kgtui.generation.comparing.rates import is_correct
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong

COLUMNS = (
    Column(label="candidate", width=30, least=14),
    Column(label="operator", width=26, least=12),
    Column(label="verdict", width=14),
    Column(label="cases", width=9),
    Column(label="proven", width=7, rank=1),
    Column(label="own rule", width=9, rank=2),
    Column(label="speed-up", width=9, rank=1),
    Column(label="run", width=7),
    Column(label="reason", width=90, least=20, rank=2),
)
_BAR = 24
_MOST_GROUPS = 4
_TONES = {"passed": Tone.GOOD, "flagged": Tone.WARN, "waiting": Tone.MUTED, "not run": Tone.MUTED}


def result_rows(results: Sequence[CandidateResult], *, running: Sequence[str], failed_only: bool) -> tuple[Row, ...]:
    """A row for each candidate, in their order; with `failed_only` those that did not pass."""
    busy = frozenset(running)
    shown = [result for result in results if not failed_only or result.word not in ("passed", "waiting")]
    return tuple(_row(result, is_running=result.row.candidate.name in busy) for result in shown)


def progress_lines(
    progress: BatchProgress, results: Sequence[CandidateResult], *, now_s: float, signs: str
) -> tuple[Line, ...]:
    """Progress of the batch, and results by library; `signs` are the full and the empty part of the bar."""
    counts = counts_of(results)
    if progress.has_ended or not progress.running:
        return (line(strong(ending_text(progress.batch, results))), *_group_lines(results))
    filled = _BAR * progress.done // progress.total if progress.total else _BAR
    left_s = progress.left_s(now_s=now_s)
    left = f", {duration_text(left_s)} left" if left_s is not None else ""
    bar = signs[0] * filled + signs[1] * (_BAR - filled)
    words = f"{bar} {progress.done}/{progress.total}{left}: {counts_text(counts)}"
    return (line(Span(words, Tone.BUSY)), *_group_lines(results))


def guide_lines() -> tuple[Line, ...]:
    """How to begin a batch: shown if there is none."""
    return (
        line(muted("To verify many candidates, press "), strong("r"), muted(" and type a folder or a .jsonl file,")),
        line(muted("such as "), strong(EXAMPLE), muted(", then press "), strong("enter"), muted(".")),
    )


def _group_lines(results: Sequence[CandidateResult]) -> tuple[Line, ...]:
    """Correct and run candidates of each library or level, if there are several; the largest first."""
    by_library: dict[str, list[CandidateResult]] = {}
    for result in results:
        if result.problem and result.row.is_done:
            by_library.setdefault(result.library, []).append(result)
    if len(by_library) < 2:
        return ()
    largest = sorted(by_library.items(), key=lambda item: -len(item[1]))
    texts = [f"{name} {sum(map(is_correct, some))}/{len(some)}" for name, some in largest[:_MOST_GROUPS]]
    rest = f"  and {len(largest) - _MOST_GROUPS} more" if len(largest) > _MOST_GROUPS else ""
    return (line(muted(f"correct: {'  '.join(texts)}{rest}")),)


def _row(result: CandidateResult, *, is_running: bool) -> Row:
    run, candidate = result.run, result.row.candidate
    has_run = run is not None and run.outcome is not None
    verdict = Span("running", Tone.BUSY) if is_running else Span(result.word, _TONES.get(result.word, Tone.BAD))
    return Row(
        key=str(result.row.place),
        cells=(
            Span(candidate.name),
            Span(f"{candidate.problem} !", Tone.WARN) if result.weakness else Span(candidate.problem),
            verdict,
            Span(f"{run.passed}/{run.total}" if run is not None and has_run else ""),
            Span("" if run is None or run.proven is None else str(run.proven)),
            _rule_span(result),
            Span("" if run is None or run.speedup is None else f"{run.speedup:.2f}x"),
            Span(f"#{run.number}" if run is not None and has_run else ""),
            muted(result.explanation),
        ),
    )


def _rule_span(result: CandidateResult) -> Span:
    """Result of the suite's own rule, with a colour where kgtui's verdict differs."""
    agreement = agreement_of(result)
    is_otherwise = agreement is not None and agreement.is_disagreement
    return Span(rule_text(result), Tone.WARN) if is_otherwise else muted(rule_text(result))
