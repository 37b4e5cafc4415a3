"""A batch and stored answers as rows and lines of the Models screen."""

from __future__ import annotations

from collections.abc import Sequence

from kgtui.generation.budget import usd_text
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.comparing.rates import is_correct
from kgtui.generation.display.typed import EXAMPLE
from kgtui.generation.lines import ending_text, left_text, money_text, spot_text
from kgtui.generation.progress import GenerationProgress
from kgtui.generation.reports.tables import cell_text
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from sessions.candidates.generation_rows import BatchRow, Ending, GenerationRow, GenerationState

COLUMNS = (
    Column(label="model", width=26, least=12),
    Column(label="answer", width=12),
    Column(label="verdict", width=15),
    Column(label="speed-up", width=10, rank=1),
    Column(label="tokens", width=16, rank=2),
    Column(label="cost", width=12),
    Column(label="run", width=7),
)
_TAIL_LINES = 12


def candidate_rows(rows: Sequence[GenerationRow]) -> tuple[Row, ...]:
    """A row for each stored answer, the newest first."""
    return tuple(_row(row) for row in reversed(rows))


def progress_lines(progress: GenerationProgress, *, now_s: float) -> tuple[Line, ...]:
    """Progress and cost of the batch; empty before a batch."""
    if progress.number is None:
        return ()
    if progress.ended is not None:
        summary, _, error = ending_text(progress).partition("; first error: ")
        return (line(strong(summary)), *([line(error)] if error else []))
    left = left_text(progress, now_s=now_s)
    counts = (
        f"batch {progress.number}: {progress.answered}/{progress.total} answers, {progress.verified} verified, "
        f"{progress.passed} passed, {len(progress.streaming)} in flight, {money_text(progress)}"
    )
    counts += f", about {left}" if left else ""
    lines = [line(Span(counts, Tone.BUSY), muted("  esc stops"))]
    if progress.last_message:
        lines.append(line(muted(progress.last_message)))
    return tuple(lines)


def unfinished_lines(batch: BatchRow | None) -> tuple[Line, ...]:
    """How a stored batch that ended early is resumed; empty if its budget stopped it, or if there is none."""
    if batch is None or batch.ending is Ending.BUDGET:
        return ()
    ended = {None: "was cut off", Ending.FAILED: "ended with errors"}.get(batch.ending, "was cancelled")
    again = muted(" generates the rest; stored answers are not paid for again")
    return (line(Span(f"batch {batch.id} {ended}; ", Tone.WARN), strong("R"), again),)


def guide_lines() -> tuple[Line, ...]:
    """How to generate the first candidates: shown if there is neither a batch nor a stored answer."""
    return (
        line(muted("To generate kernels, press "), strong("r"), muted(" and type models, a strategy and a budget,")),
        line(muted("such as "), strong(EXAMPLE), muted(", then press "), strong("enter"), muted(".")),
    )


def streaming_lines(progress: GenerationProgress) -> tuple[Line, ...]:
    """The end of the longest answer in flight, and a list of the others."""
    if not progress.streaming:
        return ()
    spot, text = max(progress.streaming.items(), key=lambda item: len(item[1]))
    others = f"  (and {len(progress.streaming) - 1} more in flight)" if len(progress.streaming) > 1 else ""
    tail = text.splitlines()[-_TAIL_LINES:]
    return (line(strong(spot_text(spot)), muted(others)), *(line(Span(one)) for one in tail))


def model_lines(rows: Sequence[GenerationRow]) -> tuple[Line, ...]:
    """A line for each model: its result for the operator and its cost."""
    comparison = comparison_of(rows)
    return tuple(line(strong(cell.model), f"  {cell_text(cell)}") for cell in comparison.cells if cell.attempts)


def _row(row: GenerationRow) -> Row:
    run = row.run
    speedup = f"{run.speedup:.2f}x" if run is not None and run.speedup is not None else ""
    tokens = "unknown" if row.usage is None else f"{row.usage.input_tokens:,}+{row.usage.output_tokens:,}"
    return Row(
        key=str(row.id),
        cells=(
            Span(row.model_name),
            Span(row.place),
            _verdict(row),
            Span(speedup),
            muted(tokens),
            Span(usd_text(row.cost_microusd)),
            Span(f"#{run.number}" if run is not None else ""),
        ),
    )


def _verdict(row: GenerationRow) -> Span:
    run = row.run
    if row.state is not GenerationState.SETTLED:
        return Span({"reserved": "in flight", "failed": "refused", "lost": "cut off"}[row.state], Tone.MUTED)
    if row.digest is None:
        return Span("no code", Tone.BAD)
    if run is None or run.outcome is None:
        return Span("not run", Tone.MUTED)
    if run.flagged:
        return Span("flagged", Tone.WARN)
    return Span("passed", Tone.GOOD) if is_correct(row) else Span(run.outcome.value.replace("_", " "), Tone.BAD)
