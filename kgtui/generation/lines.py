"""A batch as plain lines: one for each event, with costs and budget."""

from __future__ import annotations

from engine.model import Outcome
from engine.model.counts import counted
from kgtui.generation.budget import usd_text
from kgtui.generation.events import (
    AnswerStored,
    BatchEnded,
    CandidateVerified,
    GenerationEvent,
    JobEnded,
    RequestRefused,
    RequestSent,
    SaveVerified,
    Spot,
)
from kgtui.generation.progress import GenerationProgress, save_text
from kgtui.generation.records import DEFAULT_TIMEOUT_S
from kgtui.state.format.glyphs import outcome_words
from sessions.candidates.generation_rows import Ending

_SHOWN_IN_MINUTES_S = 90


def event_line(event: GenerationEvent, progress: GenerationProgress, *, now_s: float) -> str | None:
    """An event as one line; None for one without a line."""
    match event:
        case RequestSent() if progress.sent == 1:
            limit = f"an attempt without a reply ends after {DEFAULT_TIMEOUT_S / 60:.0f} min"
            return f"{count_text(progress)} waiting for {event.spot.model} ({limit}); ctrl+c ends the batch"
        case RequestRefused():
            return f"{spot_text(event.spot)}: {event.message}; next attempt in {event.waited_s:.0f} s"
        case SaveVerified():
            return f"{event.spot.problem} {save_text(event)}"
        case AnswerStored() if event.row.digest is None:
            return f"{count_text(progress)} {spot_text(event.spot)}: no code: {event.row.extraction}"
        case CandidateVerified():
            return f"{count_text(progress)} {verdict_text(event)}{_rest(progress, now_s=now_s)}"
        case JobEnded() if event.message:
            return f"{event.problem} {event.model}: stopped: {event.message}"
        case BatchEnded():
            return resumable_text(progress)
        case _:
            return None


def spot_text(spot: Spot) -> str:
    """Operator, model and place."""
    return f"{spot.problem} {spot.model} {spot.place}"


def verdict_text(event: CandidateVerified) -> str:
    """Short text of the verdict on one candidate."""
    word = "flagged" if event.flagged else "passed" if event.outcome is Outcome.PASS else outcome_words(event.outcome)
    speedup = f" {event.speedup:.2f}x" if event.speedup is not None and word == "passed" else ""
    number = f" (run #{event.run})" if event.run is not None else ""
    return f"{spot_text(event.spot)}: {word}{speedup}{number}: {event.sentence}"


def count_text(progress: GenerationProgress) -> str:
    """Number of answers, of the maximum."""
    return f"[{progress.answered}/{progress.total}]"


def money_text(progress: GenerationProgress) -> str:
    """Cost so far, its upper bound, and the budget."""
    spent, limit = progress.spent, progress.limits.microusd
    if spent.unpriced and limit is None:
        known = usd_text(spent.microusd) if spent.microusd else "cost unknown"
        return f"{known} ({spent.unpriced} of unknown cost)" if spent.microusd else known
    of = f" of {usd_text(limit)}" if limit is not None else ""
    return f"{usd_text(spent.microusd)}{of}" + (f" ({spent.unpriced} of unknown cost)" if spent.unpriced else "")


def ending_text(progress: GenerationProgress, *, advice: str = "") -> str:
    """Summary of the ended batch in one line; the text of an error, which may be long, is last."""
    ended = progress.ended
    words = {
        None: "cancelled",
        Ending.FINISHED: "finished",
        Ending.BUDGET: "stopped by the budget",
        Ending.CANCELLED: "cancelled",
        Ending.FAILED: "ended with errors",
    }[ended.ending if ended else None]
    reason = ended.message if ended is not None else ""
    counts = (
        f"{counted(progress.answered, 'answer')}, {progress.passed} passed, {progress.flagged} flagged, "
        f"{progress.without_code} without code"
    )
    start, end = f"batch {progress.number} {words}", f"{counts}, {money_text(progress)}{advice}"
    if ended is not None and ended.ending is Ending.FAILED and reason:
        return f"{start}: {end}; first error: {reason}"
    return f"{start}: {reason}: {end}" if reason else f"{start}: {end}"


def resumable_text(progress: GenerationProgress) -> str:
    """Summary of a command's batch, and the command that resumes it."""
    ending = progress.ended.ending if progress.ended is not None else None
    if ending is Ending.FINISHED:
        return ending_text(progress)
    budget = " and a larger --budget" if ending is Ending.BUDGET else ""
    return ending_text(progress, advice=f"; the same command with --resume{budget} continues")


def _rest(progress: GenerationProgress, *, now_s: float) -> str:
    left = left_text(progress, now_s=now_s)
    return f" · {money_text(progress)}" + (f" · {left}" if left else "")


def left_text(progress: GenerationProgress, *, now_s: float) -> str:
    """Remaining time at the rate so far; "" if there is none, or it is unknown."""
    left_s = progress.left_s(now_s=now_s)
    if not left_s:
        return ""
    return f"{left_s / 60:.0f} min left" if left_s >= _SHOWN_IN_MINUTES_S else f"{left_s:.0f} s left"
