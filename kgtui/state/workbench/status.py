"""Activity of the workbench, in one state: a pure function of the run, the file and the mode."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.model import Outcome, Stage
from kgtui.state.format.glyphs import BUSY, State, state_of

if TYPE_CHECKING:
    from engine.reports.run_record import RunRecord

_STATES = {
    Stage.PARSE: State.LOADING,
    Stage.STATIC: State.LOADING,
    Stage.LOAD: State.LOADING,
    Stage.VERIFY: State.VERIFYING,
    Stage.PROVE: State.PROVING,
    Stage.PROBE: State.PROBING,
    Stage.COMPILE: State.COMPILING,
    Stage.BENCHMARK: State.BENCHMARKING,
}


class Mode(enum.StrEnum):
    """Meaning of single letters: commands or text."""

    WATCH = "watch"
    EDIT = "edit"


class CandidateStage(enum.StrEnum):
    """Stage of a generated candidate."""

    ARRIVING = "arriving"
    QUEUED = "queued"
    VERIFYING = "verifying"
    SETTLED = "settled"
    """Final: its run has a verdict, or its answer has no code."""


@dataclass(frozen=True, kw_only=True)
class StripContext:
    """Context of the strip besides the run.
    `content_digest` is the hash of the file's current content; `unsaved` says that the editor has another text.
    `waiting` says that a run was requested, `begun` that it has begun without an event yet. `elapsed_s` is the time
    since the save for a run in progress.  `number` is the run's number in the store, None if it is not stored; `cached`
    says that it was answered from the store, `opened` that it is a past run. `editable` says that the file can be
    edited here, `smoke` that a save runs only the smoke cases. `candidate` is the stage of the shown generated
    candidate, None without one; `remark` is text about it. `picked` says that the run was of selected cases, and
    `failed_besides` is the number of other cases of the same source that failed before.
    """

    operator: str
    filename: str
    mode: Mode = Mode.WATCH
    paused: bool = False
    unsaved: bool = False
    waiting: bool = False
    begun: bool = False
    content_digest: str = ""
    device: str = "cpu"
    target: str | None = None
    number: int | None = None
    cached: bool = False
    opened: bool = False
    elapsed_s: float = 0.0
    notice: str = ""
    editable: bool = True
    smoke: bool = False
    candidate: CandidateStage | None = None
    remark: str = ""
    picked: bool = False
    failed_besides: int = 0

    @property
    def is_live(self) -> bool:
        """Whether the shown run is in progress: the newest run, or a candidate without a verdict."""
        return not self.opened or self.candidate in (CandidateStage.ARRIVING, CandidateStage.VERIFYING)


@dataclass(frozen=True, kw_only=True)
class Status:
    """The state and, for a stage with steps, its progress.
    An active run may already be in a final state: its first failed case makes it failed.
    """

    state: State
    detail: str = ""
    is_active: bool = False

    @property
    def busy(self) -> bool:
        """Whether it changes without user input."""
        return self.is_active or self.state in BUSY


def status_of(view: RunRecord, strip_context: StripContext) -> Status:
    """The state that the strip shows."""
    if strip_context.candidate is CandidateStage.ARRIVING:
        return Status(state=State.GENERATING, is_active=True)
    if view.running:
        return _so_far(view, activity_of(view))
    if strip_context.waiting or strip_context.begun:
        return Status(state=State.STARTING)
    if strip_context.candidate in (CandidateStage.QUEUED, CandidateStage.VERIFYING):
        return Status(state=State.QUEUED)
    if strip_context.opened:
        return _finished(view)
    if strip_context.unsaved:
        return Status(state=State.EDITED)
    if strip_context.paused:
        return Status(state=State.PAUSED)
    ended = _finished(view)
    if ended.state is State.PASSED and strip_context.failed_besides:
        return Status(state=State.FAILED)  # the file's: the run was only of some of its cases
    return ended


def is_stale(view: RunRecord, strip_context: StripContext) -> bool:
    """Whether the results are of another version than the file or the editor has."""
    if not view.started or strip_context.opened:
        return False
    return strip_context.unsaved or bool(strip_context.content_digest and strip_context.content_digest != view.digest)


def _so_far(view: RunRecord, doing: Status) -> Status:
    """Current activity, or the worst known result if there is one; timing has separate states."""
    known = view.interim
    if known is None:
        return doing if doing.state is not State.VERIFYING else replace(doing, detail=_with_tiers(view, doing.detail))
    if doing.state in (State.QUEUED, State.BENCHMARKING):
        return doing
    state = State.FLAGGED if known.flagged else state_of(known.outcome)
    so_far = " so far" if len(view.cases) < view.planned else ""
    count = len(view.failed) or len(view.cases)
    activity = f"{doing.state} {doing.detail}".rstrip()
    return Status(state=state, detail=f"{count}/{view.planned}{so_far}, {activity}", is_active=True)


def _with_tiers(view: RunRecord, detail: str) -> str:
    """The progress, and the passed tiers."""
    return ", ".join([detail, *(f"{tier.tier} {tier.passed}/{tier.total} passed" for tier in view.tiers)])


def activity_of(view: RunRecord) -> Status:
    """Activity of a run in progress, whatever its outcome so far."""
    active = view.active
    if view.holder is not None and (active is None or active.stage is Stage.BENCHMARK):
        return Status(state=State.QUEUED)
    if active is None and view.stages:
        active = view.stages[-1]  # between two stages
    if active is None:
        return Status(state=State.LOADING)
    state = _STATES[active.stage]
    done = {
        Stage.VERIFY: len(view.cases),
        Stage.PROVE: len(view.proofs),
        Stage.COMPILE: len(view.kernels),
        Stage.BENCHMARK: len(view.benchmarks),
    }.get(active.stage)
    expected = {
        Stage.VERIFY: view.planned,
        Stage.COMPILE: view.kernels_planned or len(view.launches),
        Stage.BENCHMARK: view.benchmarks_planned or None,
    }
    total = active.total if active.total is not None else expected.get(active.stage)
    return Status(state=state, detail="" if done is None or total is None else f"{done}/{total}")


def _finished(view: RunRecord) -> Status:
    verdict = view.verdict
    if verdict is None:
        return Status(state=State.INTERRUPTED if view.cut_short else State.IDLE)
    if verdict.flagged and verdict.outcome is Outcome.PASS:
        return Status(state=State.FLAGGED)
    return Status(state=state_of(verdict.outcome))
