"""The portability of a run: its launches compiled for a list of targets, shown as results arrive.
Compiling begins when the screen is first shown for a run.  Results are events of that run, so an old run shows its
stored results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable

from engine.run.retarget import PORTABILITY_TARGETS
from kgtui.ports.requests import RetargetRequest
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import Line, line, muted, strong
from kgtui.state.run.tables import nothing_launched
from kgtui.state.run.targets import TARGET_COLUMNS, ports_line, target_detail, target_rows
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.toned import Grid, Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER


def make(host: Host) -> TargetsScreen:
    """Builds of the workbench's run for other targets.

    Raises:
        UsageError: no file is open.
    """
    return TargetsScreen(workbench_of(host, otherwise="nothing was launched"))


class TargetsScreen(ScreenOverWorkbench):
    """The targets, over the workbench, which reports changes to it."""

    WHERE = Where.TARGETS
    CSS_PATH = "../../styles/code.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.TARGETS)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__(workbench)
        self._begun: tuple[int | None, str] | None = None

    def compose(self) -> ComposeResult:
        """Create the widgets: the run, its progress, the targets, and the errors of the one under the cursor."""
        yield Lines(id="banner")
        yield Lines(id="run")
        yield Lines(id="ports")
        yield Grid(TARGET_COLUMNS, id="targets")
        with VerticalScroll(id="target-scroll", can_focus=False):
            yield Lines(id="target-detail")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Draw the known builds, and request them when there are none."""
        self.set_focus(self.query_one(Grid))
        self.draw()

    def draw(self) -> None:
        """Draw changes; request builds once for each run."""
        bench, glyphs = self._workbench.bench, self.host.glyphs
        ports = bench.view.ports
        self.show_trouble()
        self.query_one("#run", Lines).show((self._run_line(),))
        why_not = self._why_not()
        shown = line(muted(why_not)) if why_not and not ports.asked else ports_line(ports, glyphs=glyphs)
        self.query_one("#ports", Lines).show((shown,))
        self.query_one("#targets", Grid).show(target_rows(ports, glyphs=glyphs, own=bench.view.target))
        self._draw_detail()
        if self.is_current and not why_not and not ports.asked and self._begun != self._run:
            self._ask()
        self.show_keys_but(
            {"read": not ports.asked, "retarget": bool(why_not) or self._is_compiling},
            labels={"leave": "stop"} if self._is_compiling else {},
        )

    def action_retarget(self) -> None:
        """Compile for every target again."""
        if why_not := self._why_not():
            self.notify(why_not, markup=False)
        elif not self._is_compiling:
            self._ask()

    def action_read(self) -> None:
        """Read the code as compiled for the target under the cursor."""
        target = self.query_one(Grid).current
        if target is None:
            return
        if not self._workbench.bench.view.ports.of(target).kernels:
            self.notify(f"nothing was compiled for {target} yet", markup=False)
            return
        self.action_close()
        self._workbench.code.read_for(target)

    def action_leave(self) -> None:
        """Stop compiling; if nothing is being compiled, go back."""
        if not (self._workbench.bench.view.ports.running and self.host.runs.cancel()):
            self.action_close()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._draw_detail()

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.action_read()

    @property
    def _run(self) -> tuple[int | None, str]:
        shown = self._workbench.bench.shown
        return shown.number, shown.view.digest

    @property
    def _is_compiling(self) -> bool:
        """Whether builds are in progress; those of a stored run are not, since their process has exited."""
        return self._workbench.bench.view.ports.running and self._begun == self._run

    def _why_not(self) -> str:
        """Why this run's launches cannot be compiled now; empty if they can."""
        bench = self._workbench.bench
        view = bench.view
        if bench.old is not None:
            return "this is an earlier run; press esc twice to show the newest, whose launches can be compiled"
        if view.verdict is None or bench.waiting:
            return "the launches of the run are compiled for other targets as soon as it has a verdict"
        if not view.launches:
            return nothing_launched(view)
        return ""

    def _ask(self) -> None:
        bench = self._workbench.bench
        view = bench.view
        self._begun = self._run
        order = bench.order()
        if order.candidate.digest != view.digest:
            self.notify("the file has changed since this run; r on the workbench runs it", markup=False)
            return
        self.host.runs.retarget(
            RetargetRequest(
                candidate=order.candidate,
                entry=bench.problem.entry,
                launches=view.launches,
                targets=PORTABILITY_TARGETS,
                number=bench.shown.number,
                after_s=view.at_s,
            )
        )

    def _run_line(self) -> Line:
        bench = self._workbench.bench
        number = f" run #{bench.shown.number}" if bench.shown.number is not None else ""
        return line(strong("Targets"), f"  {bench.path.name}{number}", muted(f"  {bench.problem.name}"))

    def _draw_detail(self) -> None:
        target = self.query_one(Grid).current
        report = self._workbench.bench.view.ports.of(target) if target else None
        self.query_one("#target-detail", Lines).show(target_detail(report))
