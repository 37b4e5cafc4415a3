"""The inspection: all evidence for and against the kernel on the workbench, on one page.
It draws the state of the workbench, live or of an old run, and requests runs from it.  A claim is kept as long as the
screen; it never changes a verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import OptionList

from engine.errors import KgtuiError, UsageError
from engine.inspection.evidence import Inspection
from engine.inspection.html import as_html
from engine.inspection.speedup_claim import Claim, parse_claim
from engine.inspection.text import as_markdown
from engine.judge.baselines import baseline_names
from kgtui.files.new_file import create
from kgtui.runner.run_environment import VERDICT_PACKAGES, versions
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.workbench.inspect import inspection_of, page_rows
from kgtui.state.workbench.strip import head
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.page_view import PageView
from kgtui.widgets.text.toned import Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER

_MARGIN = 3  # the page's padding and its scroll bar
_NOTHING_HAS_RUN = "nothing has run yet; r runs the file"


def make(host: Host) -> InspectScreen:
    """The inspection of the run that the workbench shows.

    Raises:
        UsageError: no file is open.
    """
    return InspectScreen(workbench_of(host, otherwise="there is nothing to inspect"))


class InspectScreen(ScreenOverWorkbench):
    """The inspection, over the workbench, which reports changes to it."""

    WHERE = Where.INSPECT
    CSS_PATH = "../../styles/inspect.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.INSPECT)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__(workbench)
        self._claim: Claim | None = None
        self._versions = {name: version for name, version in versions(VERDICT_PACKAGES).items() if version is not None}

    def compose(self) -> ComposeResult:
        """Create the widgets: state, page, the input for a claim."""
        yield Lines(id="banner")
        yield Strip(id="state")
        yield PageView(id="page")
        yield Entry(id="claim")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Draw the state of the workbench."""
        self.set_focus(self._page)
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self._draw_state()
        width = max(1, self.size.width - _MARGIN)
        stale, is_ascii = self._workbench.scene.stale, self.app.has_class("-ascii")
        rows = page_rows(self._inspection(), width=width, stale=stale, is_ascii=is_ascii)
        self._page.show(rows)
        about_source, started = any(row.about is not None for row in rows), self._workbench.bench.view.started
        idle = dict.fromkeys(("next-finding", "to-source"), not about_source)
        self.show_keys_but(idle | dict.fromkeys(("claim", "write-html", "copy-page"), not started))

    def on_resize(self) -> None:
        """Wrap the page for the new width."""
        self.call_after_refresh(self.draw)

    def tick(self) -> None:
        """Update the elapsed time of a run."""
        if self._workbench.runs.busy:
            self._draw_state()

    def action_finding(self, step: int) -> None:
        """Go to the next or the previous line that refers to the source."""
        if not self._page.go_on(step):
            self.notify("no other line refers to the source", markup=False)

    def action_follow(self) -> None:
        """Go to the source line of the line under the cursor."""
        current = self._page.current
        if current is None or current.about is None:
            self.notify("this line refers to no source line; n goes to the next one that does", markup=False)
            return
        self.action_close()
        self._workbench.source.take_keys(current.about)

    def action_claim(self) -> None:
        """Open the input for a claim."""
        hint = "2.3x, or 2.3x compile; leave empty to remove the claim"
        self._question.ask("claim", submitted=self._claim_submitted, hint=hint)

    def action_run_again(self) -> None:
        """Run the saved file again."""
        self._workbench.runs.action_run_again()

    def action_write_html(self) -> None:
        """Write the page beside the kernel; no file is ever overwritten."""
        bench = self._workbench.bench
        if not bench.view.started:
            self.notify(_NOTHING_HAS_RUN, markup=False)
            return
        number = bench.shown.number
        name = f"{bench.path.stem}.inspection{f'-{number}' if number is not None else ''}"
        path, again = bench.path.with_name(f"{name}.html"), 2
        while path.exists():
            path, again = bench.path.with_name(f"{name}-{again}.html"), again + 1
        try:
            page = as_html(self._inspection(dated=True))
            create(path, page, shown=path.name, otherwise="make its folder writable")
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.notify(f"written: {self.host.kernels.shown(path)}", markup=False)

    def action_copy_value(self) -> None:
        """Copy the line under the cursor."""
        self.copy_text(self._page.text())

    def action_copy_result(self) -> None:
        """Copy the page as Markdown."""
        self.copy_text(as_markdown(self._inspection()) if self._workbench.bench.view.started else "")

    def action_step_back(self) -> None:
        """Close the input, or the screen."""
        if self._question.display:
            self._leave_question()
        else:
            self.action_close()

    def _claim_submitted(self, text: str) -> None:
        try:
            self._claim = parse_claim(text, baselines=baseline_names()) if text.strip() else None
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._leave_question()
        self.draw()
        self._page.highlighted = 0

    @on(OptionList.OptionSelected)
    def _line_selected(self) -> None:
        self.action_follow()

    @property
    def _page(self) -> PageView:
        return self.query_one(PageView)

    @property
    def _question(self) -> Entry:
        return self.query_one("#claim", Entry)

    def _leave_question(self) -> None:
        self._question.close()
        self.set_focus(self._page)

    def _inspection(self, *, dated: bool = False) -> Inspection:
        now = self.host.now().isoformat(timespec="seconds") if dated else None
        return inspection_of(self._workbench.bench, claim=self._claim, versions=self._versions, inspected_at=now)

    def _draw_state(self) -> None:
        bench = self._workbench.bench
        self.query_one("#state", Strip).show(
            (head(bench.view, bench.strip_context(self.host.clock()), self.host.glyphs),)
        )
