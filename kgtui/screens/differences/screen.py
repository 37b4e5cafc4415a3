"""Differences in the compiled code of a kernel between an earlier run and the shown one.

The kernel and its form are those of the workbench.  Comparing is done in a thread: on machine code of 20,000 lines it
takes too long for the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from engine.errors import UsageError
from engine.model import CompiledKernel
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from kgtui.background import in_background
from kgtui.highlighting.kinds import TextKind
from kgtui.ports.protocols import PastRun
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.code.differences import Differences, differences
from kgtui.state.code.forms import artefact_of, forms_line, forms_of
from kgtui.state.code.kernel_matching import (
    counterpart,
    kernels_for,
    resource_line,
    specialisation_line,
)
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER

_FEWEST = 2  # number of kernels from which there is a next one
_MOST_TRIED = 20  # maximum number of runs read to find one that compiled the kernel


def make(host: Host) -> DifferencesScreen:
    """The kernel of the workbench against an earlier one.

    Raises:
        UsageError: no file is open.
    """
    return DifferencesScreen(workbench_of(host, otherwise="no two runs differ"))


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """The kernel of the shown run and its counterpart of an earlier one, in a form that both have."""

    kernel: CompiledKernel
    other: CompiledKernel
    number: int
    forms: tuple[str, ...]


class DifferencesScreen(ScreenOverWorkbench):
    """The differences, over the workbench; read again when the screen is shown."""

    WHERE = Where.DIFFERENCES
    CSS_PATH = "../../styles/code.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.DIFFERENCES)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__(workbench)
        self._runs: tuple[PastRun, ...] = ()
        self._against: int | None = None
        self._step = 0
        self._form = ""
        self._place = 0
        self._shown: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Create the widgets: the compared kernels, their resources, the difference."""
        yield Lines(id="banner")
        yield Lines(id="versus")
        yield CodeView(id="difference")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Focus the content."""
        self.set_focus(self.query_one(CodeView))
        self.show_keys()

    def on_screen_resume(self) -> None:
        """Compare the kernel that the workbench shows."""
        code = self._workbench.code
        kernels = code.kernels
        self._place = kernels.index(code.kernel) if code.kernel in kernels else 0
        self._form, self._against, self._step = code.form, self._workbench.history.run_under_cursor, 0
        self.draw()
        self._read()

    def draw(self) -> None:
        """Show problems of engine or store; the comparison is drawn when it is computed."""
        self.show_trouble()

    def action_form(self) -> None:
        """Compare the next form."""
        kernel = self._kernel
        forms = forms_of(kernel) if kernel else ()
        if forms:
            self._form = forms[(forms.index(self._form) + 1) % len(forms)] if self._form in forms else forms[0]
            self._read()

    def action_next_kernel(self) -> None:
        """Compare the next kernel of the shown run."""
        self._place += 1
        self._step = 0
        self._read()

    def action_turn_run(self, step: int) -> None:
        """Compare with the next older or newer run that compiled this kernel."""
        numbers = [run.number for run in self._runs]
        place = numbers.index(self._against) + step if self._against in numbers else 0
        if not 0 <= place < len(numbers):
            self.notify("there is no older run" if step > 0 else "there is no newer run", markup=False)
            return
        self._against, self._step = numbers[place], step
        self._read()

    def action_change(self, step: int) -> None:
        """Go to the next or the previous change."""
        view = self.query_one(CodeView)
        starts = [place for place, text in enumerate(self._shown, start=1) if text.startswith("@@")]
        beyond = [place for place in starts if (place - view.cursor_line) * step > 0]
        if beyond:
            view.go_to(min(beyond) if step > 0 else max(beyond))

    def action_copy(self) -> None:
        """Copy the differences."""
        self.copy_text("\n".join(self._shown))

    @property
    def _kernel(self) -> CompiledKernel | None:
        kernels = self._workbench.code.kernels
        return kernels[self._place % len(kernels)] if kernels else None

    def _read(self) -> None:
        in_background(self, self._compare, group="differences")

    async def _compare(self) -> None:
        found = await self._pair()
        if isinstance(found, str):
            self._show((line(muted(found)),), ())
            return
        form = self._form if self._form in found.forms else found.forms[-1] if found.forms else None
        heads = self._heads(found, form)
        try:
            texts = [await self._text(kernel, form) for kernel in (found.other, found.kernel)]
        except UsageError as error:
            self._show((*heads, line(Span(str(error), Tone.WARN))), ())
            return
        if form is None or None in texts:
            self._show((*heads, line(muted("the code of both is not saved, so only resource usage is compared"))), ())
            return
        before, after = (text or "" for text in texts)
        changed = await asyncio.to_thread(differences, before, after, form=form)
        self._show((*heads, _summary(changed)), changed.lines)

    async def _pair(self) -> _Pair | str:
        """The pair to compare, or the reason why there is none."""
        bench, history, kernel = self._workbench.bench, self.host.run_history, self._kernel
        if kernel is None:
            return "this run compiled no kernel, so there is nothing to compare; the IR tab says why"
        runs = await history.runs_of(bench.problem.name) or ()
        self._runs = tuple(run for run in runs if run.number != bench.shown.number)
        if not self._runs:
            return f"no other run of {bench.problem.name} is saved; save another version of the file"
        for number in self._tried(bench.shown.number, bench.view.digest):
            stored = await history.run(number)
            view = await asyncio.to_thread(reduce_all, NO_RUN, stored[0]) if stored is not None else NO_RUN
            other = counterpart(kernel, kernels_for(view, kernel.target))
            if other is not None:
                self._against = number
                common = tuple(form for form in forms_of(kernel) if form in forms_of(other))
                return _Pair(kernel=kernel, other=other, number=number, forms=common)
        return self._why_none(f"{kernel.launch.kernel} for {kernel.target}")

    def _tried(self, shown: int | None, digest: str) -> list[int]:
        """The runs to compare with, in order of preference: only the requested one, else those before it.
        Without a request, runs of another source come first, since the same source gives the same code; among them
        whole runs, since a run of selected cases or a cancelled one compiled only a part.
        """
        numbers = [run.number for run in self._runs]
        if self._against in numbers:
            place = numbers.index(self._against)
            if self._step == 0:
                return [self._against]
            return (numbers[place:] if self._step > 0 else numbers[place::-1])[:_MOST_TRIED]
        earlier = [run for run in self._runs if shown is None or run.number < shown] or list(self._runs)
        earlier.sort(key=lambda run: (run.digest == digest, not run.is_whole))
        return [run.number for run in earlier[:_MOST_TRIED]]

    def _why_none(self, name: str) -> str:
        if self._against is None:
            return f"no earlier run compiled {name} for the same element types; [ selects older runs, ] newer ones"
        where = {0: "", 1: ", nor did any before it", -1: ", nor did any after it"}[self._step]
        missing = f"compiled no {name} for the same element types{where}"
        return f"run #{self._against} {missing}; [ selects an older run, ] a newer one"

    async def _text(self, kernel: CompiledKernel, form: str | None) -> str | None:
        artefact = artefact_of(kernel, form) if form else None
        return await self.host.artefact(artefact.digest) if artefact else None

    def _heads(self, pair: _Pair, form: str | None) -> tuple[Line, ...]:
        glyphs, number = self.host.glyphs, self._workbench.bench.shown.number
        shown = f"run #{number}" if number is not None else "this run"
        lines = (
            line(
                strong("Differences"), f"  run #{pair.number} {glyphs.then} {shown}  ", *forms_line(pair.kernel, form)
            ),
            specialisation_line(pair.other.launch, pair.kernel.launch, glyphs=glyphs),
            resource_line(pair.other, pair.kernel, glyphs=glyphs),
        )
        return tuple(one for one in lines if one)

    def _show(self, heads: tuple[Line, ...], lines: tuple[str, ...]) -> None:
        self._shown = lines
        no_kernels, no_runs = len(self._workbench.code.kernels) < _FEWEST, not self._runs
        idle = {"next-kernel": no_kernels, "older": no_runs, "newer": no_runs, "form": self._kernel is None}
        self.show_keys_but(idle | dict.fromkeys(("next-change", "copy"), not lines))
        self.query_one("#versus", Lines).show(heads)
        self.query_one(CodeView).show_text("\n".join(lines), kind=TextKind.DIFF)


def _summary(changed: Differences) -> Line:
    if changed.same:
        return line(
            Span("the code is the same", Tone.GOOD), muted("  apart from locations, numbering and register names")
        )
    lines = "line" if changed.removed == 1 else "lines"
    return line(
        Span(f"{changed.removed:,} {lines} removed, {changed.added:,} added", Tone.STRONG),
        muted("  ignoring locations, numbering and register names"),
    )
