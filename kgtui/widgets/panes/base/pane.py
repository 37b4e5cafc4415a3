"""The base class of the panes of the workbench, which draw a scene."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.containers import Vertical
from textual.widget import Widget

from engine.model import CompiledKernel
from engine.reports.run_record import RunRecord
from kgtui.ports.protocols import PastRun
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Line
from kgtui.state.workbench.workbench import Workbench


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The data for panes; `wanted` is the filter of the cases, `runs` the history of the operator.
    `marked` are the numbers of runs marked for comparison.  `stale` says that the file has changed since the run,
    `outdated` also that the results are those of the previous run, since the newest has none. `kernels` are those to
    show, compiled for `foreign_target` if that is not the target of the run.
    """

    bench: Workbench
    glyphs: Glyphs
    stale: bool
    outdated: bool
    now: datetime
    runs: tuple[PastRun, ...] = ()
    marked: tuple[int, ...] = ()
    wanted: str = ""
    kernels: tuple[CompiledKernel, ...] = ()
    foreign_target: str = ""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Target of enter at the cursor: a line of the source, a past run, or the screen of this id.

    `message` says why there is none.
    """

    line: int | None = None
    run: int | None = None
    screen_id: str = ""
    message: str = ""


class Pane(Vertical):
    """One tab's content.  A pane draws records; it does not use engine or store.
    Abstract members are checked only by mypy, since Textual's metaclass is not derived from `abc`.
    """

    @abstractmethod
    def show(self, scene: Scene) -> None:
        """Draw the scene."""

    @property
    @abstractmethod
    def main(self) -> Widget:
        """The widget to focus when the pane is selected."""

    SEARCHES: ClassVar[bool] = False
    """Whether `search` searches the pane, or filters it."""
    DRAWN_HIDDEN: ClassVar[bool] = False
    """Whether runs are drawn also while another tab is shown, since other screens read the entry under its cursor."""

    def label(self, results: RunRecord, wanted: str) -> Line:
        """Text behind the title of its tab: the number of entries, and their filter."""
        return ()

    def is_stale(self, scene: Scene) -> bool:
        """Whether the pane shows results of an earlier version without saying so itself; its tab then does."""
        return False

    def follow(self) -> Followed:
        """Target of enter at the cursor; none by default."""
        return Followed()

    def copied(self) -> str:
        """The value under the cursor, for the clipboard."""
        return ""

    def search(self, text: str) -> int | None:
        """Search for `text` in the pane and return the number of matches; None if the pane has no search."""
        return None

    def hit(self, step: int) -> bool:
        """Go to the next or the previous match; False if there is none."""
        return False

    def step_back(self) -> bool:
        """Undo the last step into the pane; False if there is none."""
        return False


def is_seen(widget: Widget) -> bool:
    """Whether it is visible: neither hidden nor in a tab that is not shown."""
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
