"""The first screen: every operator of every suite, filtered by typed letters, with its last results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import DataTable, Input

from engine.errors import UsageError
from kgtui.screens import Place
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import line, muted, strong
from kgtui.state.operators import COLUMNS, Choice, Facets, choices, facet_line, operator_rows, preview, progress_line
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid, Lines
from kgtui.widgets.text.typed_keys import Field

if TYPE_CHECKING:
    from engine.problem_source import ProblemDescription
    from kgtui.screens.base.host import Host

PLACE = Place.GROUND

_FACETS = frozenset({"facet-source", "facet-category", "facet-dtype", "facet-progress"})
_KEYS = frozenset({"open", "new", "filter", *_FACETS, "back", "help", "quit"})


def make(host: Host) -> OperatorsScreen:
    """The list."""
    return OperatorsScreen()


class OperatorsScreen(KgtuiScreen):
    """Selects an operator and its file; the application opens it."""

    WHERE = Where.OPERATORS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.OPERATORS)]

    def __init__(self) -> None:
        super().__init__()
        self._facets = Facets()
        self._choices: dict[str, Choice] = {}
        self._previewed: Choice | None = None

    def compose(self) -> ComposeResult:
        """Create the widgets: the list beside its preview, or above it on a narrow screen."""
        yield Lines(id="banner")
        yield Strip(id="head")
        yield Field(placeholder="a few letters of a name, / to type", id="filter", compact=True)
        with Horizontal(id="body"):
            with Vertical(id="list"):
                yield Grid(COLUMNS, id="operators")
            with Vertical(id="preview"):
                with VerticalScroll(id="facts", can_focus=False):
                    yield Lines(id="summary")
                yield CodeView(id="reference")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Focus the list: letters are commands until the filter is open."""
        self.set_focus(self.query_one(Grid))
        self.draw()

    def draw(self) -> None:
        """Show the filtered catalogue."""
        host = self.host
        chosen = choices(host.problems, host.run_history.recent_files, host.run_history.last_runs, self._facets)
        self._choices = {choice.key: choice for choice in chosen}
        operators = sum(choice.file is None for choice in chosen)
        is_read = host.run_history.is_read
        progress = progress_line(host.problems, host.run_history.last_runs) if is_read else line(muted("reading runs"))
        title = line(strong("Operators  "), *progress)
        narrowed = facet_line(self._facets, operators, len(host.problems))
        self.query_one(Strip).show(((title, line(muted(host.device_and_target))), (narrowed, ())))
        grid = self.query_one(Grid)
        at_the_top = grid.cursor_row == 0
        grid.show(operator_rows(chosen, host.run_history.last_runs, glyphs=host.glyphs, now=host.now()))
        if at_the_top:
            grid.move_cursor(row=0)  # recent files are read from the store after the operators
        leads_back = host.workbench is not None or self._facets != Facets()
        self.show_keys(_KEYS if leads_back else _KEYS - {"back"})
        self.show_trouble()
        self._preview()

    @property
    def current(self) -> Choice | None:
        """The entry under the cursor."""
        key = self.query_one(Grid).current
        return self._choices[key] if key is not None else None

    def action_open(self) -> None:
        """Open the file of the entry, or create it from the sample first."""
        choice = self.current
        if choice is None:
            return
        path = choice.file or self.host.kernels.path_of(choice.problem)
        if not path.exists() and choice.file is None:
            if not self.host.kernels.has_sample(choice.problem):
                self.notify(
                    f"{self.host.kernels.shown(path)} does not exist yet; n makes it from a template", markup=False
                )
                return
            try:
                path = self.host.kernels.copy_sample(choice.problem)
            except UsageError as error:
                self.notify(str(error), severity="error", markup=False)
                return
        self.host.open_file(choice.problem, path)

    def action_new(self) -> None:
        """Create a new file and open it."""
        choice = self.current
        if choice is None:
            return
        problem = self.host.problem_named(choice.problem.name)
        if problem is None:
            return
        try:
            path = self.host.kernels.new_file(problem)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.host.open_file(problem, path)

    def action_filter(self) -> None:
        """Open the input for the filter."""
        self.set_focus(self.query_one(Input))

    def action_facet(self, facet: str) -> None:
        """Narrow the list to the next source, category, dtype or state."""
        self._facets = self._facets.cycled(facet, self.host.problems, self.host.run_history.last_runs)
        self.draw()

    def action_back(self) -> None:
        """Close the filter, then clear it, then return to the workbench, if one is open."""
        if self.focused is self.query_one(Input) and not self._facets.query:
            self.set_focus(self.query_one(Grid))
        elif self._facets != Facets():
            self._facets = Facets()
            self.query_one(Input).value = ""
            self.set_focus(self.query_one(Grid))
            self.draw()
        elif self.host.workbench is not None:
            self.host.action_show("workbench")

    @on(Input.Changed, "#filter")
    def _filter_changed(self, message: Input.Changed) -> None:
        if message.value != self._facets.query:
            self._facets = replace(self._facets, query=message.value)
            self.draw()
            self.query_one(Grid).move_cursor(row=0)

    @on(Input.Submitted, "#filter")
    def _filter_submitted(self) -> None:
        self.set_focus(self.query_one(Grid))

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.action_open()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._preview()

    def _preview(self) -> None:
        choice, host = self.current, self.host
        if choice is None:
            nothing = "no operator matches; esc clears the filter" if host.problems else "reading the catalogue"
            self.query_one("#summary", Lines).show((line(muted(nothing)),))
            self.query_one(CodeView).show_text("", kind="python")
        elif choice != self._previewed:
            path = choice.file or host.kernels.path_of(choice.problem)
            problem = host.problem_named(choice.problem.name)
            lines = preview(
                choice.problem,
                problem,
                file=host.kernels.shown(path),
                file_exists=path.exists(),
                sample=host.kernels.has_sample(choice.problem),
            )
            self.query_one("#summary", Lines).show(lines)
            self.query_one(CodeView).show_text(reference_text(choice.problem), kind="python")
        self._previewed = choice


def reference_text(problem: ProblemDescription) -> str:
    """The text of the problem's file."""
    try:
        return problem.file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
