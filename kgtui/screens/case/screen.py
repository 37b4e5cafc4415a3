"""One failed case in full: why it failed, and the actions to investigate it.
It draws the state of the workbench, live or of an old run, and requests runs from it.  The script that it writes is
always a new file.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll

from engine.errors import KgtuiError, UsageError
from engine.model import CaseResult, Outcome
from engine.problem_source import ProblemDescription
from kgtui.files.new_file import create
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.settings.keys import Where, bindings_of
from kgtui.standalone.script import FailedCase, script_name, standalone_script
from kgtui.state.format.lines import line, muted
from kgtui.state.run.failed_case import case_text, failed_case
from kgtui.state.workbench.blame import suspects_of
from kgtui.state.workbench.no_failure_message import why_nothing_failed
from kgtui.state.workbench.strip import head
from kgtui.state.workbench.workbench import number_of
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.panes.cases import CasesPane
from kgtui.widgets.text.toned import Lines

PLACE = Place.OVER

_MARGIN = 3  # the padding and the scroll bar
_ALWAYS = frozenset({"replay", "leave-case", "help", "quit"})
_FOLDER = "make its folder writable"
_NO_LINE = "no line is known to be wrong; check the inputs of the worst element"


def make(host: Host) -> CaseScreen:
    """The failed case under the cursor of the workbench.

    Raises:
        UsageError: no file is open.
    """
    return CaseScreen(workbench_of(host, otherwise="no case has failed"))


class CaseScreen(ScreenOverWorkbench):
    """The case, over the workbench, which reports changes to it."""

    WHERE = Where.CASE
    CSS_PATH = "../../styles/case.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.CASE)]

    def compose(self) -> ComposeResult:
        """Create the widgets: state, and all facts on the case."""
        yield Lines(id="banner")
        yield Strip(id="state")
        with VerticalScroll(id="case-page", can_focus=True):
            yield Lines(id="case-whole")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Draw the state of the workbench."""
        self.set_focus(self.query_one("#case-page"))
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self.show_keys(self._available_actions())
        self._draw_state()
        page, result = self.query_one("#case-whole", Lines), self._result
        if result is None:
            page.show((line(muted(self._nothing())),))
            return
        page.show(
            failed_case(
                result,
                glyphs=self.host.glyphs,
                width=max(1, self.size.width - _MARGIN),
                number=number_of(self._workbench.bench, result.case),
                stale=self._is_stale(result),
                suspected=suspects_of(self._workbench.bench, result),
            )
        )

    def on_resize(self) -> None:
        """Wrap the text for the new width."""
        self.call_after_refresh(self.draw)

    def tick(self) -> None:
        """Update the elapsed time of a run."""
        if self._workbench.runs.busy:
            self._draw_state()

    def action_other_case(self, step: int) -> None:
        """Show the next or the previous failed case."""
        names = [result.case for result in self._workbench.bench.results.failed]
        current = self._workbench.runs.cases.current_name
        if not names or names == [current]:
            self.notify("no other case failed in this run", markup=False)
            return
        place = names.index(current) + step if current in names else 0
        self._cases.go_to(names[place % len(names)])
        self.query_one("#case-page", VerticalScroll).scroll_home(animate=False)
        self.draw()

    def action_run_alone(self) -> None:
        """Run only this case again."""
        self._workbench.runs.action_run_alone()

    def action_run_again(self) -> None:
        """Run the saved file again."""
        self._workbench.runs.action_run_again()

    def action_follow(self) -> None:
        """Go to the source line of the error, or to the first suspected one."""
        number = self._line_at_fault
        if number is None:
            self.notify(_NO_LINE, markup=False)
            return
        self.action_close()
        self._workbench.source.take_keys(number)

    async def action_write_script(self) -> None:
        """Write this case as a script beside the kernel; no file is ever overwritten."""
        result, bench = self._result, self._workbench.bench
        if result is None:
            self.notify(self._nothing(), markup=False)
            return
        try:
            source = await self._source()
            failed = FailedCase(
                problem=bench.shown_problem,
                described=self._described(bench.shown_problem.name),
                result=result,
                source=source,
                filename=bench.shown_filename,
                device=bench.view.device,
            )
            path, again = bench.path.with_name(script_name(bench.path.name, result.case)), 2
            stem = path.stem
            while path.exists():
                path, again = path.with_name(f"{stem}_{again}.py"), again + 1
            create(path, standalone_script(failed, name=path.name), shown=path.name, otherwise=_FOLDER)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.notify(f"written: {self.host.kernels.shown(path)}; run it with python", markup=False)

    def action_copy_result(self) -> None:
        """Copy the whole page."""
        result = self._result
        number = number_of(self._workbench.bench, result.case) if result else None
        suspected = suspects_of(self._workbench.bench, result) if result else None
        copied = case_text(result, glyphs=self.host.glyphs, number=number, suspected=suspected) if result else ""
        self.copy_text(copied)

    def _described(self, name: str) -> ProblemDescription:
        described = next((one for one in self.host.problems if one.name == name), None)
        if described is None:
            raise UsageError(f"the file of {name} is not known, so no script can be made")
        return described

    @property
    def _cases(self) -> CasesPane:
        return self._workbench.runs.cases

    @property
    def _result(self) -> CaseResult | None:
        """The failed case under the cursor of the cases tab."""
        result = self._cases.current
        return result if result is not None and result.outcome is not Outcome.PASS else None

    @property
    def _line_at_fault(self) -> int | None:
        """The source line of the error, or the first suspected one."""
        result = self._result
        if result is None:
            return None
        bounds = result.out_of_bounds
        location = result.location or (bounds.location if bounds else None)
        if location is not None:
            return location.line
        suspected = suspects_of(self._workbench.bench, result)
        return suspected.lines[0][0] if suspected else None

    def _available_actions(self) -> frozenset[str]:
        """The available actions: following a line only if one is known, the next case only if another failed."""
        failed = {result.case for result in self._workbench.bench.results.failed}
        offered = {
            "next-case": bool(failed - {self._workbench.runs.cases.current_name}),
            "to-line": self._line_at_fault is not None,
            "write-script": self._result is not None,
            "rerun": self._result is None,
        }
        return _ALWAYS | {name for name, works in offered.items() if works}

    def _is_stale(self, result: CaseResult) -> bool:
        scene = self._workbench.scene
        return scene.outdated or scene.bench.results.case(result.case) is None

    def _nothing(self) -> str:
        return why_nothing_failed(self._workbench.bench, self._workbench.runs.cases.current_name)

    async def _source(self) -> bytes:
        """The source of the run: that of the file, or that in the store.

        Raises:
            UsageError: the file has changed, and the store does not have the source.
        """
        bench = self._workbench.bench
        if bench.view.digest == bench.content_digest:
            return bench.saved
        number = bench.shown.number
        kept = await self.host.run_history.run(number) if number is not None else None
        if kept is None:
            raise UsageError("the file has changed since, and the version of this run was not saved; r runs it")
        return kept[1]

    def _draw_state(self) -> None:
        bench = self._workbench.bench
        self.query_one("#state", Strip).show(
            (head(bench.view, bench.strip_context(self.host.clock()), self.host.glyphs),)
        )
