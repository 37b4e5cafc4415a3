"""The cases tab: a row for every case, below it why the one under the cursor failed."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from engine.model import CaseResult, Outcome
from engine.reports.run_record import RunRecord
from kgtui.ports.requests import DEFAULT_TIERS
from kgtui.state.format.lines import Line, Span, Tone, line, muted, plain_text
from kgtui.state.run.cases import case_brief, case_columns, case_detail, case_rows
from kgtui.state.workbench.blame import suspects_of
from kgtui.widgets.panes.base.detailed import DetailedPane
from kgtui.widgets.panes.base.pane import Followed, Scene
from kgtui.widgets.text.toned import Grid, Lines

ORDER = 10
TITLE = "Cases"
PASSED = "this case passed; enter on a failed one shows why it failed"
NOT_RUN = "this case was not run; enter on a failed one shows why it failed"
_LONGEST_FILTER = 16


def make() -> CasesPane:
    """The pane of one workbench."""
    return CasesPane()


class CasesPane(DetailedPane):
    """A row for every case, and why the one under the cursor failed."""

    SEARCHES = True
    DRAWN_HIDDEN = True

    def __init__(self) -> None:
        super().__init__()
        self._led_to_failure_of = ""

    def label(self, results: RunRecord, wanted: str) -> Line:
        """The number of failed cases, and the filter."""
        only = wanted if len(wanted) <= _LONGEST_FILTER else f"{wanted[: _LONGEST_FILTER - 1]}…"
        failed = Span(f"({len(results.failed)})" if results.failed else "", Tone.BAD)
        return line(failed, Span(f" /{only}" if wanted else "", Tone.WARN))

    def is_stale(self, scene: Scene) -> bool:
        """Whether the cases were run with an earlier version: the column that says so may be out of view."""
        return scene.outdated and bool(scene.bench.results.cases)

    def compose(self) -> ComposeResult:
        """Create the widgets: the table over the detail, or over a few lines of it on a low terminal."""
        yield Grid(case_columns(()), id="cases-table")
        with VerticalScroll(id="case-scroll", can_focus=True):
            yield Lines(id="case-detail")
        yield Lines(id="case-brief")

    @property
    def current(self) -> CaseResult | None:
        """The result under the cursor, of this run or, while the table still shows it, of the previous one."""
        name, scene = self.current_name, self.scene
        if name is None or scene is None:
            return None
        view = scene.bench.results
        waits = view.running or scene.outdated
        return view.case(name) or (scene.bench.known_before.case(name) if waits else None)

    @property
    def current_name(self) -> str | None:
        """The name of the case under the cursor, run or not."""
        return self.query_one(Grid).current

    def show(self, scene: Scene) -> None:
        """Draw the cases; the cursor moves to the first one that fails in a run."""
        self.scene = scene
        bench, view = scene.bench, scene.bench.results
        tiers = bench.tiers if bench.old is None else DEFAULT_TIERS
        planned = tuple(case for case in bench.shown_problem.cases if case.tier in tiers)
        before, glyphs, wanted = bench.known_before, scene.glyphs, scene.wanted
        rows = case_rows(planned, view, before, glyphs=glyphs, wanted=wanted, stale=scene.outdated)
        self.query_one(Grid).set_columns(case_columns(planned))
        self.query_one(Grid).show(rows)
        self.set_class(not rows, "-none")
        if view.failed and not bench.shown.picked and self._led_to_failure_of != self._run_key(scene):
            self._led_to_failure_of = self._run_key(scene)
            self.query_one(Grid).go_to(view.failed[0].case)
        self.show_detail()

    @property
    def has_failed(self) -> bool:
        """Whether the case under the cursor was run and failed."""
        return self.current is not None and self.current.outcome is not Outcome.PASS

    def follow(self) -> Followed:
        """The screen with the explanation of the failed case; for another one why there is none."""
        if self.has_failed:
            return Followed(screen_id="case")
        if self.current_name is None:
            return Followed()
        return Followed(message=NOT_RUN if self.current is None else PASSED)

    def go_to(self, name: str) -> None:
        """Put the cursor on a case."""
        self.query_one(Grid).go_to(name)
        self.show_detail()

    def copied(self) -> str:
        """The worst element of the case, or its name."""
        result = self.current
        if result is None:
            return self.current_name or ""
        if self.scene and result.outcome is not Outcome.PASS:
            return plain_text(case_detail(result, glyphs=self.scene.glyphs))
        return result.case

    def show_detail(self) -> None:
        """Draw the detail of the case under the cursor."""
        detail = self.query_one("#case-detail", Lines)
        result, scene = self.current, self.scene
        self.set_class(self.has_failed, "-failed")
        if result is not None and scene is not None:
            is_stale = scene.outdated or scene.bench.results.case(result.case) is None
            suspected = suspects_of(scene.bench, result)
            detail.show(case_detail(result, glyphs=scene.glyphs, stale=is_stale, suspected=suspected))
            brief = case_brief(result, glyphs=scene.glyphs, stale=is_stale, suspected=suspected)
            self.query_one("#case-brief", Lines).show(brief if self.has_failed else ())
        elif scene is not None and self.current_name is None:
            words = f"no case has {scene.wanted!r} in its row; esc shows all"
            self.query_one("#case-brief", Lines).show((line(muted(words)),))
        else:
            detail.show((line(muted("not run yet" if scene is None or scene.bench.view.running else "not run")),))

    @staticmethod
    def _run_key(scene: Scene) -> str:
        shown = scene.bench.shown
        return f"{shown.number} {shown.began_s} {shown.view.digest}"
