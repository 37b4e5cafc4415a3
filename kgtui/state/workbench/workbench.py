"""All state of the workbench's file; each change makes a new record.

The screen draws one of these records.  Nothing here uses a widget, a file or the engine.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from engine.model import BenchmarkPlan, CaseResult, Outcome, Problem, Tier
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from engine.static.source import directives, unknown_directives
from kgtui.files.disk import shown_text, why_not_editable
from kgtui.ports.protocols import CPU_DEVICE
from kgtui.ports.requests import DEFAULT_TIERS, RunRequest
from kgtui.state.bench.measurements import NOTHING_MEASURED, Measurements, measured
from kgtui.state.workbench.status import CandidateStage, Mode, StripContext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.model.events import Event

TARGETS = ("sm_90", "sm_80", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100")


class RunPurpose(enum.StrEnum):
    """Purpose of a run: as on a save, only verification of all cases, or also the benchmark."""

    AS_SAVED = "as saved"
    VERIFY = "verify"
    BENCHMARK = "benchmark"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A run on the screen: its record, its number in the store, whether it was answered from there.
    `begun` is false before the first request.  `problem` is set for a run of another operator than the open one, and
    `filename` for one of another file; `path` is the file of a past run if it is stored.  `picked` says that its cases
    were selected. `candidate` is the label of a generated candidate, `remark` a text about it; both empty for a run of
    a file. `has_code` says whether a candidate without a run has code that can be used.
    """

    view: RunRecord = NO_RUN
    number: int | None = None
    cached: bool = False
    began_s: float = 0.0
    begun: bool = False
    problem: Problem | None = None
    filename: str = ""
    path: Path | None = None
    picked: bool = False
    candidate: str = ""
    stage: CandidateStage | None = None
    remark: str = ""
    has_code: bool = False


@dataclass(frozen=True, kw_only=True)
class Named:
    """The operator and the target that a file names in its `# kgtui:` line; "" for what it does not name."""

    operator: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """One file of one operator, its newest run, and what surrounds them.

    `saved` is what the file holds as far as is known. `content_on_disk` is content that another program wrote while the
    editor held unsaved text: both are kept until the user has chosen. `before` remembers what earlier runs said of each
    case, `kept` the results of the same text beside which picked cases were run, `kept_numbers` the runs of those,
    `timed_before` what they measured; `old` is a past run that is being looked at instead of the newest. `smoke` is
    what the user chose over the file's own directive. A `notice` holds until the next run, a `trouble` with the file
    until it is told that it is over, `misnamed` until the file names an operator that exists.
    """

    problem: Problem
    path: Path
    saved: bytes
    device: str
    target: str | None
    mode: Mode = Mode.WATCH
    paused: bool = False
    waiting: bool = False
    ordered_s: float = 0.0
    unsaved: bool = False
    content_on_disk: bytes | None = None
    live: Shown = Shown()
    before: RunRecord = NO_RUN
    kept: tuple[CaseResult, ...] = ()
    kept_numbers: tuple[tuple[str, int | None], ...] = ()
    timed_before: Measurements = NOTHING_MEASURED
    old: Shown | None = None
    notice: str = ""
    trouble: str = ""
    misnamed: str = ""
    smoke: bool | None = None

    @cached_property
    def is_smoke(self) -> bool:
        """Whether a save runs only the smoke cases: by the user's choice, else by the file's directive."""
        if self.smoke is not None:
            return self.smoke
        return directives(shown_text(self.saved)).get("cases") == Tier.SMOKE

    @cached_property
    def named(self) -> Named:
        """The operator and the target that the file names; the open ones may have been given another way."""
        found = directives(shown_text(self.saved))
        return Named(operator=found.get("op", ""), target=found.get("target", ""))

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that a save runs."""
        return (Tier.SMOKE,) if self.is_smoke else DEFAULT_TIERS

    @property
    def shown(self) -> Shown:
        """The run that the panes show."""
        return self.old or self.live

    def renumbered(self, numbers: Mapping[int, int]) -> Workbench:
        """The same runs under their new numbers in the store."""
        live, old = (
            None if one is None or one.number is None else replace(one, number=numbers.get(one.number, one.number))
            for one in (self.live, self.old)
        )
        kept = tuple((case, None if one is None else numbers.get(one, one)) for case, one in self.kept_numbers)
        return replace(self, live=live or self.live, old=old or self.old, kept_numbers=kept)

    @property
    def view(self) -> RunRecord:
        """The record of the shown run."""
        return self.shown.view

    @property
    def shown_problem(self) -> Problem:
        """The operator of the shown run, which may differ from that of the open file."""
        return self.shown.problem or self.problem

    @property
    def shown_filename(self) -> str:
        """The file name of the shown run."""
        return self.shown.filename or self.path.name

    @property
    def is_of_other_file(self) -> bool:
        """Whether a past run of another file than the open one is shown, or of a source without a file."""
        return self.old is not None and (self.old.problem is not None or self.old.path != self.path)

    @property
    def known_before(self) -> RunRecord:
        """Results of earlier runs for each case; none for a past run, which is shown unchanged."""
        return NO_RUN if self.old is not None else self.before

    @property
    def ended_before_cases(self) -> bool:
        """Whether the newest run ended before any case was run, such as for invalid Python."""
        view = self.live.view
        has_failed = view.verdict is not None and view.verdict.outcome is not Outcome.PASS
        return self.old is None and has_failed and not view.cases and self.before.started

    @property
    def results(self) -> RunRecord:
        """Record of the cases, findings and kernels that the panes show.

        With selected cases, also the others of the same source; after a run without cases, those of the previous run.
        """
        if self.ended_before_cases:
            return replace(self.before, findings=self.view.findings or self.before.findings)
        if self.old is None and self.live.picked and self.kept:
            now = {result.case: result for result in self.view.cases}
            merged = {result.case: result for result in self.kept} | now
            return replace(self.view, cases=tuple(merged.values()))
        return self.view

    @property
    def can_time(self) -> bool:
        """Whether times on this device are meaningful: False on the CPU."""
        return self.device != CPU_DEVICE

    @property
    def benchmark(self) -> BenchmarkPlan | None:
        """The cases that a save times once the candidate passes; None if that is not possible."""
        cases = tuple(case for case in self.problem.cases if case.tier is Tier.BENCH)
        return BenchmarkPlan(cases=cases) if cases and self.can_time else None

    @property
    def measurements(self) -> Measurements:
        """Measurements of the shown run, and those of earlier runs for cases that it has not timed."""
        now = measured(self.view, number=self.shown.number)
        if self.old is not None:
            return now
        return now.over(self.timed_before, self.view).beside(self.content_digest)

    @cached_property
    def why_not_editable(self) -> str:
        """Reason why the file's content cannot be edited and written back without loss; "" if it can."""
        return why_not_editable(self.saved)

    @property
    def content_digest(self) -> str:
        """The hash of the file's content."""
        return hashlib.sha256(self.saved).hexdigest()

    def order(
        self, *, again: bool = False, cases: tuple[str, ...] = (), purpose: RunPurpose = RunPurpose.AS_SAVED
    ) -> RunRequest:
        """The request for the file's content; selected cases and smoke cases are verified, not timed."""
        is_smoke = self.is_smoke and purpose is RunPurpose.AS_SAVED
        benchmark = None if cases or is_smoke or purpose is RunPurpose.VERIFY else self.benchmark
        shown = {result.case: result.seed for result in self.results.cases if result.case in cases}
        seeds = tuple((name, seed) for name, seed in shown.items() if seed is not None)
        return RunRequest(
            problem=self.problem,
            path=self.path,
            content=self.saved,
            device=self.device,
            target=self.target,
            again=again,
            tiers=(Tier.SMOKE,) if is_smoke else DEFAULT_TIERS,
            cases=cases,
            seeds=seeds,
            benchmark=benchmark,
        )

    def strip_context(self, now_s: float) -> StripContext:
        """Context of the strip besides the run."""
        shown = self.shown
        began_s = self.ordered_s if self.waiting and self.old is None else shown.began_s
        return StripContext(
            operator=self.shown_problem.name, filename=self.shown_filename, mode=self.mode, paused=self.paused,
            unsaved=self.unsaved, waiting=self.waiting and self.old is None, content_digest=self.content_digest,
            device=self.view.device or self.device, target=self.view.target if self.view.started else self.target,
            begun=shown.begun and not self.view.started, number=shown.number, cached=shown.cached,
            opened=self.old is not None, elapsed_s=max(0.0, now_s - began_s),
            notice=self.trouble or self.misnamed or self.notice or directives_complaint(self),
            editable=not self.why_not_editable, smoke=self.is_smoke and self.old is None,
            candidate=shown.stage, remark=shown.remark, picked=shown.picked, failed_besides=failed_besides(self),
        )  # fmt: skip

    def ordered(self, now_s: float) -> Workbench:
        """The record after a request that has not begun; the shown run stays."""
        return replace(self, waiting=True, old=None, notice="", ordered_s=now_s)

    def run_began(self, *, number: int | None, cached: bool, digest: str = "", picked: bool = False) -> Workbench:
        """The record after the begin of a new run; cases of earlier runs are remembered.
        For a run of `picked` cases of the same source, `digest`, the other cases keep their results.
        """
        shown = replace(self, old=None)
        kept = shown.results.cases if picked and digest == self.live.view.digest else ()
        kept_numbers = tuple((result.case, number_of(shown, result.case)) for result in kept)
        live = Shown(number=number, cached=cached, began_s=self.ordered_s, begun=True, picked=picked)
        timed = measured(self.live.view, number=self.live.number).over(self.timed_before, self.live.view)
        before = _remembered(self.before, self.live.view)
        return replace(
            self, waiting=False, before=before, kept=kept, kept_numbers=kept_numbers, timed_before=timed, live=live
        )

    def with_events(self, events: Sequence[Event]) -> Workbench:
        """The record after new events of the newest run."""
        return replace(self, live=replace(self.live, view=reduce_all(self.live.view, events)))

    def not_begun(self) -> Workbench:
        """The record after the request was withdrawn before its run began."""
        return replace(self, waiting=False)

    def opened(
        self,
        number: int,
        events: Sequence[Event],
        *,
        is_running: bool = False,
        problem: Problem | None = None,
        path: Path | None = None,
        filename: str = "",
        candidate: str = "",
        remark: str = "",
    ) -> Workbench:
        """The record that shows a past run; one without a verdict was interrupted, unless it `is_running`.
        `problem` is its operator if that is not the open one, `path` its file if it is stored, else `filename` the name
        of its source; `candidate` is the label of a generated one, `remark` a text about it.
        """
        view = reduce_all(NO_RUN, events)
        view = replace(view, cut_short=view.verdict is None and not is_running)
        name = path.name if path is not None else filename or candidate or f"run #{number}"
        old = Shown(
            view=view, number=number, problem=problem, path=path, filename=name, candidate=candidate,
            stage=CandidateStage.SETTLED if candidate else None, remark=remark,
        )  # fmt: skip
        return replace(self, old=old)

    def next_target(self) -> Workbench:
        """The record with the next target of the list."""
        place = TARGETS.index(self.target) + 1 if self.target in TARGETS else 0
        return replace(self, target=TARGETS[place % len(TARGETS)])


def number_of(bench: Workbench, case: str) -> int | None:
    """The number in the store of the run that has the shown result of a case; None if it is not stored."""
    kept = dict(bench.kept_numbers) if bench.old is None and bench.live.picked else {}
    return kept[case] if case in kept and bench.view.case(case) is None else bench.shown.number


def failed_besides(bench: Workbench) -> int:
    """Number of cases that failed before and were not selected for the shown run; 0 unless cases were."""
    is_of_selected = bench.old is None and bench.live.picked
    return len(bench.results.failed) - len(bench.view.failed) if is_of_selected else 0


def directives_complaint(bench: Workbench) -> str:
    """Which words of the file's `# kgtui:` line have no effect; "" if all have one."""
    text = shown_text(bench.saved)
    word = directives(text).get("cases", Tier.FULL)
    if word not in (Tier.SMOKE, Tier.FULL):
        return f"{bench.path.name}, its `# kgtui:` line: cases={word} should be smoke or full; all cases are run"
    unknown = unknown_directives(text)
    return f"{bench.path.name}, {unknown}" if unknown else ""


def of_operator(bench: Workbench, problem: Problem) -> Workbench:
    """The same file as a candidate for another operator, without a run."""
    return replace(
        bench, problem=problem, live=Shown(), before=NO_RUN, kept=(), kept_numbers=(),
        timed_before=NOTHING_MEASURED, old=None, waiting=False, notice="", misnamed="",
    )  # fmt: skip


def _remembered(before: RunRecord, view: RunRecord) -> RunRecord:
    """The newest result of every case of both."""
    if not view.started or (before.started and view.verdict is not None and not view.cases):
        return before
    results = {result.case: result for result in (*before.cases, *view.cases)}
    return replace(view, cases=tuple(results.values()))
