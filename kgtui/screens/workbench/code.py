"""The part of the workbench that reads compiled code: selects kernel, target, form and line.
Code is read from the artefacts once, in the background; moving the cursor in source or code highlights the
corresponding lines of the other.
"""

from __future__ import annotations

import asyncio
from functools import partial

from engine.errors import UsageError
from engine.model import Artefact, CompiledKernel
from kgtui.background import in_background
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.state.code.forms import artefact_of, forms_line, nearest_form, next_form, source_lines
from kgtui.state.code.kernel_matching import kernels_for
from kgtui.widgets.panes.base.code_pane import Code, CodePane
from kgtui.widgets.panes.base.pane import is_seen
from kgtui.widgets.panes.ir import IrPane

_FIRST_FORM = "ptx"


class CodeLoader:
    """Reads compiled code and shows it; remembers form and target from run to run."""

    def __init__(self, context: WorkbenchContext, *, tabs: TabSwitcher) -> None:
        self._context = context
        self._tabs = tabs
        self._form = _FIRST_FORM
        self._target: str | None = None
        self._digest = ""
        self._text = ""
        self._origins: tuple[int | None, ...] = ()
        self._awaited_line: int | None = None

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """Kernels compiled for the chosen target, or for that of the run."""
        view = self._context.bench.results
        return kernels_for(view, self._target) or view.kernels

    @property
    def foreign_target(self) -> str:
        """The target of those kernels if it is not that of the run; else empty."""
        kernels, own = self.kernels, self._context.bench.results.target
        return kernels[0].target if kernels and kernels[0].target != own else ""

    @property
    def kernel(self) -> CompiledKernel | None:
        """The kernel under the cursor, or the first."""
        kernels = self.kernels
        return self._context.screen.query_one(IrPane).current or (kernels[0] if kernels else None)

    @property
    def form(self) -> str:
        """The form to show if the kernel has it."""
        return self._form

    @property
    def focused(self) -> CodePane | None:
        """The focused code pane."""
        return next((pane for pane in self._context.screen.query(CodePane) if pane.view.has_focus), None)

    @property
    def seen(self) -> CodePane | None:
        """The visible code pane; on a wide terminal it is beside the tabs."""
        return next((pane for pane in self._context.screen.query(CodePane) if is_seen(pane)), None)

    @property
    def wanted(self) -> bool:
        """Whether any code is visible."""
        return self.seen is not None

    def action_ir_form(self) -> None:
        """Show the code in its next form."""
        kernel = self.kernel
        if kernel is not None:
            self._form = next_form(kernel, nearest_form(kernel, self._form) or self._form)
        self._context.draw()

    def read_for(self, target: str | None) -> None:
        """Show the kernels as compiled for this target; None is that of the run."""
        self._target = None if target == self._context.bench.view.target else target
        self._tabs.show("ir")

    def refresh(self) -> None:
        """Show the code of the kernel under the cursor, after reading it if it changed."""
        kernel, form, artefact = self._chosen()
        heading = forms_line(kernel, form, foreign=bool(self.foreign_target))
        if artefact is None:
            self._digest = ""
            self._show(Code(heading=heading))
        elif artefact.digest == self._digest:
            self._show(Code(heading=heading, form=form or "plain", text=self._text, origins=self._origins))
        else:
            in_background(self._context.screen, partial(self._load, artefact), group="code")

    def point_out(self, source_line: int) -> None:
        """Highlight the code of a source line wherever code is visible."""
        for pane in self._context.screen.query(CodePane):
            if is_seen(pane):
                pane.follow(source_line)

    def moved(self) -> None:
        """Highlight the source line of the current code line, and all code of that line."""
        pane = self.focused
        if pane is not None:
            pane.highlight_own()
            self._context.source.link(pane.source_line)

    def follow(self, source_line: int) -> None:
        """Go to the code of a source line, once it is read."""
        context = self._context
        if self.seen is None:
            self._tabs.show("ir")
        kernel, _, artefact = self._chosen()
        if artefact is not None and artefact.digest != self._digest:
            self._awaited_line = source_line
            return
        pane = self.seen or context.screen.query_one(IrPane).code
        if pane.follow(source_line):
            context.screen.set_focus(pane.view)
        else:
            code = f"code of {kernel.launch.kernel}" if kernel else "compiled code"
            context.notify(f"no {code} is known for line {source_line}")

    def follow_back(self, pane: CodePane) -> None:
        """Go to the source line of the code under the cursor."""
        line = pane.source_line
        if line is None:
            self._context.notify("the compiler recorded no source line for this line")
        else:
            self._context.source.take_keys(line)

    async def _load(self, artefact: Artefact) -> None:
        try:
            text = await self._context.host.artefact(artefact.digest)
            # In a thread: 20,000 lines of machine code would delay the handling of keys.
            self._origins = tuple(await asyncio.to_thread(source_lines, text, form=artefact.kind))
        except UsageError as error:
            text, self._origins = str(error), ()
        self._text, self._digest = text, artefact.digest
        self.refresh()
        awaited, self._awaited_line = self._awaited_line, None
        if awaited is not None:
            self.follow(awaited)

    def _chosen(self) -> tuple[CompiledKernel | None, str | None, Artefact | None]:
        """The kernel to read, its available form, and the hash of its artefact."""
        kernel = self.kernel
        form = nearest_form(kernel, self._form) if kernel else None
        return kernel, form, artefact_of(kernel, form) if kernel and form else None

    def _show(self, code: Code) -> None:
        for pane in self._context.screen.query(CodePane):
            if is_seen(pane):
                pane.show(code)
