"""The reducer of a batch's events to one frozen record: done, running, spent and remaining."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from engine.model import Outcome
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.generation.budget import Spent
from kgtui.generation.events import (
    AnswerGrew,
    AnswerStored,
    BatchEnded,
    CandidateSaved,
    CandidateVerified,
    GenerationEvent,
    JobEnded,
    RequestRefused,
    RequestSent,
    RunAdvanced,
    SaveVerified,
    Spot,
)
from sessions.candidates.generation_rows import Limits


@dataclass(frozen=True, kw_only=True)
class RunInFlight:
    """The run of a candidate so far; `number` is None if it is not stored."""

    number: int | None
    record: RunRecord = NO_RUN


@dataclass(frozen=True, kw_only=True)
class GenerationProgress:
    """Progress of a batch; the empty one is "no batch".

    `total` is the maximum number of answers, with those so far.  `streaming` has the text so far of each answer in
    flight, `running` the run so far of each candidate without a verdict, `saved` the newest save of each working agent.
    """

    number: int | None = None
    total: int = 0
    limits: Limits = field(default_factory=Limits)
    began_s: float = 0.0
    sent: int = 0
    answered: int = 0
    reused: int = 0
    without_code: int = 0
    verified: int = 0
    passed: int = 0
    flagged: int = 0
    jobs_ended: int = 0
    best_speedup: float | None = None
    spent: Spent = field(default_factory=Spent)
    streaming: Mapping[Spot, str] = field(default_factory=dict)
    running: Mapping[Spot, RunInFlight] = field(default_factory=dict)
    saved: Mapping[Spot, CandidateSaved] = field(default_factory=dict)
    refusals: int = 0
    last_message: str = ""
    verdicts: tuple[CandidateVerified, ...] = ()
    ended: BatchEnded | None = None

    @property
    def is_running(self) -> bool:
        """Whether the batch is running."""
        return self.number is not None and self.ended is None

    def left_s(self, *, now_s: float) -> float | None:
        """Remaining time at the rate so far; None before the first new answer."""
        fresh = self.answered - self.reused
        if fresh < 1 or not self.is_running:
            return None
        return max(0.0, (now_s - self.began_s) / fresh * (self.total - self.answered))


NO_BATCH = GenerationProgress()


def save_text(event: SaveVerified) -> str:
    """The verdict on a save in one line."""
    word = "flagged" if event.flagged else "passed" if event.outcome is Outcome.PASS else event.outcome.value
    number = f" (run #{event.run})" if event.run is not None else ""
    return f"{event.spot.model} {event.spot.place} save {event.save}: {word}{number}: {event.sentence}"


def after(progress: GenerationProgress, events: Iterable[GenerationEvent]) -> GenerationProgress:
    """The record after these events."""
    for event in events:
        progress = _after(progress, event)
    return progress


def _after(progress: GenerationProgress, event: GenerationEvent) -> GenerationProgress:
    match event:
        case RequestSent():
            streaming = {**progress.streaming, event.spot: ""}
            return replace(progress, sent=progress.sent + 1, streaming=streaming)
        case AnswerGrew():
            streaming = {**progress.streaming, event.spot: progress.streaming.get(event.spot, "") + event.text}
            return replace(progress, streaming=streaming)
        case RequestRefused():
            return replace(progress, refusals=progress.refusals + 1, last_message=event.message)
        case AnswerStored():
            return _answered(progress, event)
        case CandidateSaved():
            return replace(progress, saved={**progress.saved, event.spot: event})
        case SaveVerified():
            return replace(progress, last_message=save_text(event))
        case RunAdvanced():
            return _advanced(progress, event)
        case CandidateVerified():
            return _verified(progress, event)
        case JobEnded():
            message = event.message or progress.last_message
            total = progress.total - event.unused
            return replace(progress, jobs_ended=progress.jobs_ended + 1, total=total, last_message=message)
        case BatchEnded():
            spent = event.spent if event.spent is not None else progress.spent
            return replace(progress, ended=event, spent=spent, streaming={}, running={}, saved={})


def _answered(progress: GenerationProgress, event: AnswerStored) -> GenerationProgress:
    streaming = {spot: text for spot, text in progress.streaming.items() if spot != event.spot}
    return replace(
        progress,
        answered=progress.answered + 1,
        reused=progress.reused + event.is_reused,
        without_code=progress.without_code + (event.row.digest is None),
        spent=event.spent,
        streaming=streaming,
        saved={spot: save for spot, save in progress.saved.items() if spot != event.spot},
        running={spot: run for spot, run in progress.running.items() if spot != event.spot},
        last_message=event.row.extraction or progress.last_message,
    )


def _advanced(progress: GenerationProgress, event: RunAdvanced) -> GenerationProgress:
    before = progress.running.get(event.spot) if event.events else None
    record = reduce_all(before.record if before is not None else NO_RUN, event.events)
    running = {**progress.running, event.spot: RunInFlight(number=event.number, record=record)}
    return replace(progress, running=running)


def _verified(progress: GenerationProgress, event: CandidateVerified) -> GenerationProgress:
    passed = event.outcome is Outcome.PASS and not event.flagged
    speedups = [one for one in (progress.best_speedup, event.speedup if passed else None) if one is not None]
    return replace(
        progress,
        verified=progress.verified + 1,
        passed=progress.passed + passed,
        flagged=progress.flagged + event.flagged,
        best_speedup=max(speedups, default=None),
        verdicts=(*progress.verdicts, event),
        running={spot: run for spot, run in progress.running.items() if spot != event.spot},
    )
