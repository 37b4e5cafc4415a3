"""Interface of the application for screens; only the application has engine and store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from textual.screen import Screen

from kgtui.settings.preferences import Preferences

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from engine.model import Problem
    from engine.problem_source import ProblemDescription
    from kgtui.batches.results import BatchProgress, CandidateResult
    from kgtui.files.external_editor import EditorCommand
    from kgtui.files.file_watch import FileWatch
    from kgtui.files.kernel_folder import KernelFolder
    from kgtui.files.unsaved import UnsavedTexts
    from kgtui.generation.prices import PriceList
    from kgtui.generation.progress import GenerationProgress
    from kgtui.history.run_history import RunHistory
    from kgtui.ports.requests import RetargetRequest, RunRequest
    from kgtui.screens.base.appearance import Appearance
    from kgtui.screens.base.open_workbench import OpenWorkbench
    from kgtui.settings.keys import Action
    from kgtui.state.format.glyphs import Glyphs
    from kgtui.state.tuning.grid import VariantGrid
    from kgtui.state.tuning.tunables import Tunables
    from kgtui.state.workbench.workbench import Workbench
    from sessions.candidates.checked import CheckBatchRow
    from sessions.candidates.generation_rows import BatchRow, GenerationRow

Diagnose: TypeAlias = Callable[[tuple[int, int], Preferences], AsyncIterator[tuple[str, ...]]]
"""From the size of the screen and the settings to lines of facts about this machine: those known at once, then all."""


class TuningControl(Protocol):
    """The grid of variants of the open file; `changed` is called when it or one of its variants begins or ends."""

    changed: Callable[[], None]

    @property
    def grid(self) -> VariantGrid | None:
        """The latest grid."""

    def begin(self, tunables: Tunables) -> None:
        """Try these variants of the open file, the unchanged file first.

        Raises:
            UsageError: it cannot begin now; the message says what to do first.
        """

    def stop(self) -> None:
        """Try no further variants; no effect when none is being tried."""

    def watch_file(self) -> None:
        """Stop if the file has changed."""

    def write(self) -> str:
        """Write the proposed values into the file and run it; returns the sentence that reports it.

        Raises:
            UsageError: nothing was proposed, or the file is not the tuned version; it stays unchanged.
        """


class GenerationControl(Protocol):
    """The batch of generated candidates of this application; `changed` is called when one begins or ends."""

    changed: Callable[[], None]

    @property
    def progress(self) -> GenerationProgress:
        """Progress of the latest batch."""

    @property
    def rows(self) -> tuple[GenerationRow, ...]:
        """The stored answers for the open operator."""

    @property
    def unfinished(self) -> BatchRow | None:
        """The newest stored batch, if it can be resumed."""

    def resume(self) -> None:
        """Generate the missing answers of the unfinished batch; stored answers are not paid for again.

        Raises:
            UsageError: there is none, or it cannot be resumed here; the message says what to do instead.
        """

    def begin(self, typed: str) -> None:
        """Generate for the open operator with the typed models, strategy and budget.

        Raises:
            UsageError: it cannot begin; the message says what to type or do instead.
        """

    def reply(self, row: GenerationRow, remark: str) -> None:
        """Send a stored answer for the open operator back to its model, with the report of its run and a remark.

        Raises:
            UsageError: it cannot begin; the message says what to do instead.
        """

    @property
    def is_running(self) -> bool:
        """Whether a batch has begun and not ended."""

    async def fetch(self) -> None:
        """Read the stored answers for the open operator, and wait for them."""

    async def every_row(self) -> tuple[GenerationRow, ...]:
        """Every stored answer, for all operators."""
        ...

    @property
    def prices(self) -> PriceList:
        """The prices in use."""
        ...

    @property
    def price_file(self) -> Path:
        """Path of the user's own prices, if there are any."""

    def stop(self) -> bool:
        """Stop generating; False if nothing is being generated.  Answers received so far are stored."""

    def read(self) -> None:
        """Fetch the stored answers for the open operator."""


class BatchControl(Protocol):
    """Batches of candidates of this application; `changed` is called when the shown batch or a result changes."""

    changed: Callable[[], None]

    @property
    def row(self) -> CheckBatchRow | None:
        """The shown batch; None before there is one."""

    @property
    def progress(self) -> BatchProgress | None:
        """Progress of the batch running here; None if there is none."""

    @property
    def results(self) -> tuple[CandidateResult, ...]:
        """The candidates of the shown batch."""

    @property
    def is_running(self) -> bool:
        """Whether a batch of this application is running."""

    def begin(self, typed: str) -> None:
        """Verify the candidates named in the typed text.

        Raises:
            UsageError: it cannot begin; the message says what to type or do instead.
        """

    def resume(self) -> None:
        """Run the rest of the shown batch.

        Raises:
            UsageError: the batch is complete, or a batch is running.
        """

    def stop(self) -> bool:
        """Stop the batch; False if none runs here.  Finished results are stored."""

    def step(self, by: int) -> None:
        """Show an older (above 0) or a newer batch."""

    def read(self) -> None:
        """Fetch the shown batch, or the newest one, from the store."""


class RunControl(Protocol):
    """The runs of this application."""

    @property
    def tuning(self) -> TuningControl:
        """The grid of variants of the open file."""

    @property
    def generation(self) -> GenerationControl:
        """Generated candidates for the open operator."""

    @property
    def batch(self) -> BatchControl:
        """Batches of candidates."""

    def submit(self, request: RunRequest) -> None:
        """Queue this run."""

    def retarget(self, request: RetargetRequest) -> None:
        """Compile the launches of a run for other targets."""

    def cancel(self) -> bool:
        """Stop the run in progress; False if there is none."""


class AgentControl(Protocol):
    """Runs that coding agents start in other processes."""

    def follow(self) -> str:
        """Switch showing each of them while it runs; returns a sentence that confirms it."""


class Host(Protocol):
    """Interface of the application for its screens."""

    @property
    def glyphs(self) -> Glyphs:
        """The glyph set in use."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action with the user's key bindings."""

    @property
    def appearance(self) -> Appearance:
        """The user's choice of appearance."""

    def appearance_changed(self) -> None:
        """Redraw every screen after a change of glyphs, colours or keys."""

    @property
    def front(self) -> Screen[Any]:
        """The screen at the top of the stack."""

    @property
    def problems(self) -> tuple[ProblemDescription, ...]:
        """Every operator; empty until they are listed."""

    def problem_named(self, name: str, /) -> Problem | None:
        """The operator of that name; None, and a message, if there is none or its file is invalid."""

    @property
    def run_history(self) -> RunHistory:
        """Past runs."""

    @property
    def kernels(self) -> KernelFolder:
        """The user's kernel files."""

    @property
    def trouble(self) -> str:
        """Problem of the engine or the store, shown permanently; "" if there is none."""

    def now(self) -> datetime:
        """The time of day."""

    def clock(self) -> float:
        """Monotonic time in seconds."""

    @property
    def runs(self) -> RunControl:
        """The runs of this application."""

    @property
    def agents(self) -> AgentControl:
        """Runs of coding agents in other processes."""

    @property
    def file_watch(self) -> FileWatch:
        """The watcher of the open file; it reports to the workbench."""

    @property
    def unsaved_texts(self) -> UnsavedTexts:
        """Unsaved texts of the editor, stored in case the program is killed."""

    @property
    def device_and_target(self) -> str:
        """Device and target of runs."""

    @property
    def opened(self) -> Workbench | None:
        """Record of the first opened file; None before one is opened."""

    @property
    def workbench(self) -> OpenWorkbench | None:
        """The workbench; None until a file is open."""

    def diagnose(self) -> AsyncIterator[tuple[str, ...]]:
        """Facts of this machine, one per line: those known at once, then all, after some seconds."""
        ...

    def action_show(self, screen_id: str) -> None:
        """Bring a screen to the front, or report the reason why it has no content yet."""

    def open_file(self, operator: Problem | ProblemDescription, path: Path) -> None:
        """Show this file in the workbench."""

    async def artefact(self, digest: str, /) -> str:
        """The text of an artefact.

        Raises:
            UsageError: it cannot be read.
        """

    def editor_command(self, path: Path, *, line: int) -> EditorCommand:
        """Command of the user's own editor."""
