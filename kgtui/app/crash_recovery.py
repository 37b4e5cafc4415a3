"""Recovery after an abnormal exit: saves unsaved text and reports the error.

It runs when anything may be broken: nothing here may raise, and no existing file is overwritten.  The traceback is kept
without the values of variables, which may contain sources and keys.
"""

from __future__ import annotations

import platform
import tempfile
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from engine.reports.printable import printable
from kgtui.files.new_file import create_numbered

if TYPE_CHECKING:
    from kgtui.app.application import WorkbenchApp
    from kgtui.settings.paths import Paths

FOLDER = "rescued"


@dataclass(frozen=True, kw_only=True)
class Unsaved:
    """Editor text that was not saved in its file."""

    path: Path
    content: bytes


class CrashRecovery:
    """Recovery of one application; `take` is called when the exit begins, while the text is still available."""

    def __init__(self, app: WorkbenchApp, *, paths: Paths) -> None:
        self._app = app
        self._paths = paths
        self._said: str | None = None

    def take(self) -> None:
        """Write unsaved text to a recovery file.  Safe to call twice."""
        if self._said is not None:
            return
        try:
            unsaved = self._unsaved()
        except Exception as error:  # outermost handler: the screen itself may be broken
            self._said = f"the unsaved text could not be read any more: {type(error).__name__}: {error}"
            return
        self._said = "" if unsaved is None else self._rescued(unsaved)

    @property
    def said(self) -> str:
        """Sentence with the place of the unsaved text; "" where there was none."""
        return self._said or ""

    def report(self, fault: Exception) -> tuple[str, ...]:
        """Report on an internal error: the error, the saved text, where to read more, and the next step."""
        last = [*traceback.extract_tb(fault.__traceback__)][-1:]
        where = f" ({Path(last[0].filename).name}, line {last[0].lineno})" if last else ""
        has_store = self._app.run_history.recording is not None
        return (
            f"the workbench failed: {printable(f'{type(fault).__name__}: {fault}')}{where}",
            f"  runs   finished runs are saved in {self._paths.sessions}"
            if has_store
            else "  runs   nothing was saved in this session: the store was not open",
            f"  text   {self.said or 'there was no unsaved text'}",
            f"  trace  {self._trace(fault)}",
            "  next   start kgtui again; if it fails again, include the trace in a report",
        )

    def _unsaved(self) -> Unsaved | None:
        workbench = self._app.workbench
        if workbench is None or not workbench.bench.unsaved:
            return None
        return Unsaved(path=workbench.bench.path, content=workbench.source.content)

    def _rescued(self, unsaved: Unsaved) -> str:
        place = self._kept(unsaved.content, unsaved.path.name)
        if place is None:
            text = unsaved.content.decode("utf-8", errors="replace")
            return f"the unsaved text of {unsaved.path} could not be saved in any folder; it follows:\n\n{text}\n"
        return f"the unsaved text of {unsaved.path} is in {place}"

    def _trace(self, fault: Exception) -> str:
        lines = [
            f"kgtui {_version('kgtui')}, textual {_version('textual')}, Python {platform.python_version()}, "
            f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n\n",
            *traceback.format_exception(fault),
        ]
        place = self._kept("".join(lines).encode(errors="backslashreplace"), "fault.txt")
        return "could not be saved in any folder" if place is None else str(place)

    def _kept(self, content: bytes, name: str) -> Path | None:
        """Path of a new file with this content, in the data or the temporary folder; None if neither is writable."""
        for folder in (self._paths.data / FOLDER, Path(tempfile.gettempdir())):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                return create_numbered(folder / name, content)
            except OSError:
                continue
        return None


def _version(package: str) -> str:
    from importlib import metadata  # the first paint does not wait for it

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"
