"""What a screen may ask of the application; the application is the only one that holds engine and store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Protocol

from engine.events import Event
from engine.model import Problem
from kgtui.external import Opening
from kgtui.seams import LastRun, Order, PastRun, RecentFile
from kgtui.state.glyphs import Glyphs


class Host(Protocol):
    """The application as its screens see it."""

    @property
    def glyphs(self) -> Glyphs:
        """The set of signs in use."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The catalogue; empty until it is loaded."""

    @property
    def last_runs(self) -> dict[str, LastRun]:
        """The newest run of each operator."""

    @property
    def recent_files(self) -> tuple[RecentFile, ...]:
        """The files that were judged last."""

    @property
    def trouble(self) -> str:
        """What is wrong with the engine or the store, to be seen all the time; empty when nothing is."""

    def now(self) -> datetime:
        """The time of day."""

    def clock(self) -> float:
        """Seconds that only go forward."""

    def submit(self, order: Order) -> None:
        """Judge this next."""

    def cancel(self) -> bool:
        """Stop the run that goes on; False when none does."""

    def watch_file(self, path: Path, *, known_digest: str) -> None:
        """Watch this file instead of the one before; what is saved comes to the workbench."""

    def back_to_workbench(self) -> None:
        """Leave the operators for the file that is open, if one is."""

    def open_file(self, problem: Problem, path: Path) -> None:
        """Show the workbench on this file."""

    def kernel_path(self, problem: Problem) -> Path:
        """Where the operator's kernel file lies in the user's folder."""

    def short_path(self, path: Path) -> str:
        """The path as the user would type it."""

    def has_sample(self, problem: Problem) -> bool:
        """Whether a working kernel comes with the program."""

    def copy_sample(self, problem: Problem) -> Path:
        """Put the sample into the user's folder.  Raises UsageError when that cannot be written."""

    def new_file(self, problem: Problem) -> Path:
        """Make a new kernel file from the template.  Raises UsageError when that cannot be written."""

    async def runs_of(self, problem: str) -> tuple[PastRun, ...]:
        """The newest runs of this operator; none when nothing can be read."""

    async def past_run(self, number: int) -> tuple[tuple[Event, ...], bytes] | None:
        """The events and the source of a run in the store; None when they cannot be read."""

    async def artefact(self, digest: str) -> str:
        """The text of an artefact, or a sentence that says why it cannot be shown."""

    def editor_command(self, path: Path, *, line: int) -> Opening:
        """How the user's own editor is started."""
