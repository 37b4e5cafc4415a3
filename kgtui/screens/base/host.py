"""Interface of the application for screens; the application is the only one that holds engine and store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from textual.screen import Screen

from kgtui.settings.preferences import Preferences

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from engine.model import Problem
    from engine.problem_source import ProblemDescription
    from kgtui.batches.results import Progress as BatchProgress
    from kgtui.batches.results import Result
    from kgtui.files.external_editor import Opening
    from kgtui.files.file_watch import FileWatch
    from kgtui.files.kernel_folder import KernelFolder
    from kgtui.files.unsaved import UnsavedTexts
    from kgtui.generation.prices import PriceList
    from kgtui.generation.progress import Progress
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

Diagnose: TypeAlias = Callable[[tuple[int, int], Preferences], Awaitable[tuple[str, ...]]]
"""From the size of the screen and the settings to facts about this machine, a line each."""


class TuningControl(Protocol):
    """The grid of variants of the open file; `changed` is called when it or one of its variants begins or ends."""

    changed: Callable[[], None]

    @property
    def grid(self) -> VariantGrid | None:
        """The grid that was begun last."""

    def begin(self, tunables: Tunables) -> None:
        """Try these variants of the open file, the file as it is first.

        Raises:
            UsageError: it cannot be begun now; the text says what to do first.
        """

    def stop(self) -> None:
        """Try no more of them; nothing happens when none is being tried."""

    def watch_file(self) -> None:
        """Stop where the file has another text by now."""

    def write(self) -> str:
        """Write the winner into the file and have that judged; the sentence that reports it.

        Raises:
            UsageError: nothing was proposed, or the file is not what was tuned; it is as it was.
        """


class GenerationControl(Protocol):
    """The batch of generated candidates of this application; `changed` is called when one begins or ends."""

    changed: Callable[[], None]

    @property
    def progress(self) -> Progress:
        """The batch that was begun last, so far."""

    @property
    def rows(self) -> tuple[GenerationRow, ...]:
        """The stored answers for the open operator."""

    @property
    def unfinished(self) -> BatchRow | None:
        """The newest stored batch, where it can be resumed."""

    def resume(self) -> None:
        """Generate what is left of the unfinished batch; stored answers are not paid for again.

        Raises:
            UsageError: there is none, or it cannot be resumed here; the text says what to do instead.
        """

    def begin(self, typed: str) -> None:
        """Generate for the open operator with the models, the strategy and the budget that were typed.

        Raises:
            UsageError: it cannot begin; the text says what to type or do instead.
        """

    def reply(self, row: GenerationRow, remark: str) -> None:
        """Send a stored answer for the open operator back to its model, with the report of its run and a remark.

        Raises:
            UsageError: it cannot begin; the text says what to do instead.
        """

    @property
    def is_running(self) -> bool:
        """Whether a batch has begun and not ended."""

    async def fetch(self) -> None:
        """Read the stored answers for the open operator now."""

    async def every_row(self) -> tuple[GenerationRow, ...]:
        """Every stored answer, for all operators."""
        ...

    @property
    def prices(self) -> PriceList:
        """The prices that count."""
        ...

    @property
    def price_file(self) -> Path:
        """Path of the user's own prices, if there are any."""

    def stop(self) -> bool:
        """Stop generating; False when nothing is being generated.  What arrived is stored."""

    def read(self) -> None:
        """Fetch the stored answers for the open operator."""


class BatchControl(Protocol):
    """Batches of candidates of this application; `changed` is called when the shown one, or a result, is another."""

    changed: Callable[[], None]

    @property
    def row(self) -> CheckBatchRow | None:
        """The batch that is shown; None before there is one."""

    @property
    def progress(self) -> BatchProgress | None:
        """How far the batch is that runs here; None when none does."""

    @property
    def results(self) -> tuple[Result, ...]:
        """The candidates of the shown batch."""

    @property
    def is_running(self) -> bool:
        """Whether a batch of this application is running."""

    def begin(self, typed: str) -> None:
        """Verify the candidates that were typed.

        Raises:
            UsageError: it cannot begin; the text says what to type or do instead.
        """

    def resume(self) -> None:
        """Run the rest of the shown batch.

        Raises:
            UsageError: nothing is left, or a batch is running.
        """

    def stop(self) -> bool:
        """Stop the batch; False when none runs here.  What has a verdict is stored."""

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
        """Run this next."""

    def retarget(self, request: RetargetRequest) -> None:
        """Compile what a run launched for other targets."""

    def cancel(self) -> bool:
        """Stop the run in progress; False when there is none."""


class AgentControl(Protocol):
    """Runs that coding agents start in other processes."""

    def follow(self) -> str:
        """Show each of them while it runs from now on, or no longer; a sentence that confirms it."""


class Host(Protocol):
    """The application as its screens see it."""

    @property
    def glyphs(self) -> Glyphs:
        """The set of signs in use."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action with the keys that the user has."""

    @property
    def appearance(self) -> Appearance:
        """The user's choice of appearance."""

    def appearance_changed(self) -> None:
        """The signs, the colours or the keys are others: draw every screen again."""

    @property
    def front(self) -> Screen[Any]:
        """The screen in front."""

    @property
    def problems(self) -> tuple[ProblemDescription, ...]:
        """Every operator; empty until they are listed."""

    def problem_named(self, name: str, /) -> Problem | None:
        """The operator of that name; None when there is none, or its file is broken, which is shown."""

    @property
    def past(self) -> RunHistory:
        """Past runs."""

    @property
    def kernels(self) -> KernelFolder:
        """The user's kernel files."""

    @property
    def trouble(self) -> str:
        """Trouble with the engine or the store, shown all the time; "" without any."""

    def now(self) -> datetime:
        """The time of day."""

    def clock(self) -> float:
        """Seconds that only go forward."""

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
    def place(self) -> str:
        """Device and target of runs."""

    @property
    def opened(self) -> Workbench | None:
        """Record of the file that was opened first; None before one is."""

    @property
    def workbench(self) -> OpenWorkbench | None:
        """The workbench with all its state; None until a file is open."""

    async def diagnose(self) -> tuple[str, ...]:
        """Facts of this machine and of the confinement of candidates, one a line; takes some seconds."""

    def action_show(self, screen_id: str) -> None:
        """Bring a screen to the front, or report the reason why it has no content yet."""

    def open_file(self, operator: Problem | ProblemDescription, path: Path) -> None:
        """Show the workbench on this file."""

    async def artefact(self, digest: str, /) -> str:
        """The text of an artefact, or a sentence with the reason why it cannot be shown."""

    def editor_command(self, path: Path, *, line: int) -> Opening:
        """Command of the user's own editor."""
