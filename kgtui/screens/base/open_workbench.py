"""Interface of the workbench for the application and the other screens; its screen and controllers provide it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.model import CompiledKernel, Problem
    from engine.model.events import Event
    from kgtui.ports.file_events import WatchTrouble
    from kgtui.ports.requests import RunHeader, RunRequest
    from kgtui.state.workbench.workbench import Workbench
    from kgtui.widgets.panes.base.pane import Scene
    from kgtui.widgets.panes.base.source_pane import SourcePane
    from kgtui.widgets.panes.cases import CasesPane


class FileRunControl(Protocol):
    """Runs of the open file."""

    @property
    def busy(self) -> bool:
        """Whether a run is in progress, so that its elapsed time changes."""

    @property
    def cases(self) -> CasesPane:
        """The pane with the cases."""

    def run_began(self, header: RunHeader) -> None:
        """Show that a run begins."""

    def on_events(self, events: Sequence[Event]) -> None:
        """Show new events of the newest run."""

    def renumbered(self, numbers: Mapping[int, int]) -> None:
        """Update run numbers after the store has moved."""

    def submit(self, request: RunRequest) -> None:
        """Request a run, also of another text than the file's."""

    def action_run_again(self) -> None:
        """Run the saved file again."""

    def action_run_alone(self) -> None:
        """Run only the case under the cursor."""

    def action_benchmark(self) -> None:
        """Verify, then time the bench cases."""


class FileControl(Protocol):
    """The open file."""

    @property
    def has_unsaved(self) -> bool:
        """Whether the editor has unsaved text, also a letter typed just now."""

    @property
    def asked_to_leave(self) -> bool:
        """Whether the question about unsaved text is open."""

    def ask_to_leave(self) -> None:
        """Ask the user about the unsaved text before the program ends."""

    def saved(self, content: bytes, *, siblings_changed: bool = False) -> None:
        """Take the new content of the file."""

    def watch_troubled(self, trouble: WatchTrouble) -> None:
        """Show that the watched file is missing, or that it is back."""


class PastRunControl(Protocol):
    """Past runs of the operator."""

    @property
    def run_under_cursor(self) -> int | None:
        """The past run under the cursor; None if its tab is not shown."""

    def read(self) -> None:
        """Fetch the runs of this operator from the store."""

    def refresh(self) -> None:
        """Read the shown run again if another process is running it."""

    def open(
        self, number: int, *, problem: Problem | None = None, path: Path | None = None, filename: str = ""
    ) -> None:
        """Show a past run, once the workbench is ready."""


class CodeControl(Protocol):
    """Compiled code."""

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """Kernels compiled for the chosen target, or for that of the run."""

    @property
    def kernel(self) -> CompiledKernel | None:
        """The kernel under the cursor, or the first."""

    @property
    def form(self) -> str:
        """The form to show if the kernel has it."""

    def read_for(self, target: str | None) -> None:
        """Show the kernels as compiled for this target; None is that of the run."""


class OpenWorkbench(Protocol):
    """The workbench on its open file."""

    bench: Workbench

    @property
    def runs(self) -> FileRunControl:
        """Runs of the open file."""

    @property
    def file(self) -> FileControl:
        """The open file."""

    @property
    def history(self) -> PastRunControl:
        """Past runs of the operator."""

    @property
    def code(self) -> CodeControl:
        """Compiled code."""

    @property
    def source(self) -> SourcePane:
        """The pane with the file."""

    @property
    def scene(self) -> Scene:
        """The data for panes, and for screens on top of the workbench."""

    def open(self, problem: Problem, path: Path, content: bytes) -> None:
        """Show another file instead."""
