"""Parts that the panes of the workbench share: they get a scene and draw it."""

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
    """Everything that a pane may draw; `wanted` is the filter of the cases, `runs` the history of the operator.

    `marked` are the numbers of runs to be compared.  `stale` says that the file has another text by now than what was
    judged, `outdated` also that the results are those of the run before, since the newest judged nothing.

    `kernels` are those to be read, compiled for `foreign_target` where that is not the target of the run.
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
    """Destination of enter at the cursor: a line of the source, a past run, or the screen of this id."""

    line: int | None = None
    run: int | None = None
    screen_id: str = ""


class Pane(Vertical):
    """One tab's content.  A pane takes records and draws them; it calls no engine and no store.

    That the abstract part is there is checked by mypy alone: Textual's metaclass is none of `abc`.
    """

    @abstractmethod
    def show(self, scene: Scene) -> None:
        """Draw the scene."""

    @property
    @abstractmethod
    def main(self) -> Widget:
        """The widget that takes the keys when the pane is chosen."""

    SEARCHES: ClassVar[bool] = False
    """Whether `search` finds something in it, or filters it."""

    def label(self, results: RunRecord, wanted: str) -> Line:
        """Text of its tab behind its title: the number of entries, and their filter."""
        return ()

    def follow(self) -> Followed:
        """Destination of enter at the cursor; none, unless the pane has one."""
        return Followed()

    def copied(self) -> str:
        """The value under the cursor, for the clipboard."""
        return ""

    def search(self, text: str) -> int | None:
        """Look for `text` in the pane and return how often it occurs; None when the pane has nothing to search."""
        return None

    def hit(self, step: int) -> None:
        """Go to the next place that matches, or to the one before."""

    def step_back(self) -> bool:
        """Undo the last step into the pane; False when there is none."""
        return False


def is_seen(widget: Widget) -> bool:
    """Whether it is shown now: neither hidden itself nor on a tab that is behind another."""
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
