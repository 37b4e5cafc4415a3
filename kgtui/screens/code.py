"""Brings compiled code to the panes that show it: which kernel, which form, read once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.model import Artefact, CompiledKernel
from kgtui.background import in_background
from kgtui.state.code import artefact_of, forms_line, nearest_form, next_form
from kgtui.widgets.ir_pane import Code, CodePane, IrPane

if TYPE_CHECKING:
    from kgtui.screens.workbench import WorkbenchScreen

_FIRST_FORM = "ptx"


class CodeLoader:
    """One for each workbench screen; remembers the chosen form from run to run."""

    def __init__(self, screen: WorkbenchScreen) -> None:
        self._screen = screen
        self._form = _FIRST_FORM
        self._digest = ""
        self._text = ""

    @property
    def wanted(self) -> bool:
        """Whether any code is to be seen."""
        return any(pane.is_on_screen and pane.display for pane in self._screen.query(CodePane))

    def next_form(self) -> None:
        """Choose the next form of the kernel under the cursor."""
        kernel = self._kernel()
        if kernel is not None:
            self._form = next_form(kernel, nearest_form(kernel, self._form) or self._form)

    def refresh(self) -> None:
        """Show the code of the kernel under the cursor, reading it first when it is another."""
        kernel = self._kernel()
        form = nearest_form(kernel, self._form) if kernel else None
        artefact = artefact_of(kernel, form) if kernel and form else None
        if artefact is None:
            self._digest = ""
            self._show(Code(heading=forms_line(kernel, form)))
        elif artefact.digest == self._digest:
            self._show(Code(heading=forms_line(kernel, form), form=form or "plain", text=self._text))
        else:
            in_background(self._screen, partial(self._load, artefact), group="code")

    def follow(self, source_line: int) -> None:
        """Show the code that a source line became, and go to it."""
        screen = self._screen
        side = screen.query_one("#ir-side", CodePane)
        if side.display and screen.has_class("-wide"):
            pane = side
        else:
            screen.action_tab("ir")
            pane = screen.query_one(IrPane).code
        if pane.follow(source_line):
            screen.set_focus(pane.view)
        else:
            screen.notify(f"no compiled code is known to come from line {source_line}", markup=False)

    async def _load(self, artefact: Artefact) -> None:
        self._text = await self._screen.host.artefact(artefact.digest)
        self._digest = artefact.digest
        self.refresh()

    def _kernel(self) -> CompiledKernel | None:
        kernels = self._screen.bench.view.kernels
        return self._screen.query_one(IrPane).current or (kernels[0] if kernels else None)

    def _show(self, code: Code) -> None:
        for pane in self._screen.query(CodePane):
            pane.show(code)
