"""The part of the workbench that changes the file and looks for things in it: what its keys and lines ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Input

from kgtui.screens.workbench.code import ReadingScreen
from kgtui.screens.workbench.replacing import REPLACE
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.panes.source_pane import SourcePane

if TYPE_CHECKING:
    from kgtui.ports.file_events import WatchTrouble
    from kgtui.screens.workbench.file import FileKeeper
    from kgtui.screens.workbench.replacing import Replacer
    from kgtui.screens.workbench.run_history import PastRunViewer
    from kgtui.screens.workbench.search import Searcher


class EditingScreen(ReadingScreen):
    """Hands over to its helpers, which whoever derives from it makes."""

    _file: FileKeeper
    history: PastRunViewer
    searcher: Searcher
    replacer: Replacer

    def saved(self, content: bytes, *, siblings_changed: bool = False) -> None:
        """The file has new content."""
        self._file.saved(content, siblings_changed=siblings_changed)

    def watch_troubled(self, trouble: WatchTrouble) -> None:
        """The watcher lost the file, or found it again."""
        self._file.watch_troubled(trouble)

    @property
    def unsaved(self) -> bool:
        """Whether the editor holds text that no file has."""
        return self.bench.unsaved

    @property
    def asked_to_leave(self) -> bool:
        """Whether the question stands what becomes of unsaved text."""
        return self._file.asked_to_leave

    def ask_to_leave(self) -> None:
        """Ask what becomes of the unsaved text before the program ends."""
        self._file.ask_to_leave()

    # Actions: the file

    def action_edit(self) -> None:
        """Edit the file here."""
        self._file.edit()

    def action_save(self) -> None:
        """Write the file and judge it."""
        self._file.save()

    def action_editor(self) -> None:
        """Open the user's own editor at the cursor."""
        self._file.open_in_editor()

    def action_find(self) -> None:
        """Search the file, also while it is edited."""
        self.searcher.begin(in_source=True)

    def action_replace(self) -> None:
        """Replace a text in the file."""
        self.replacer.begin()

    def action_go_to_line(self) -> None:
        """Go to a line of the file by its number."""
        self.replacer.go_to_line()

    def action_search(self) -> None:
        """Search the focused pane, or filter the cases."""
        self.searcher.begin()

    def action_mark(self) -> None:
        """Mark the past run under the cursor to be compared, or take that back."""
        number = self.run_under_cursor
        if number is None:
            self.notify("space marks runs in the history: 5 shows it", markup=False)
        else:
            self.history.mark(number)

    def action_unmark(self) -> None:
        """Take back every mark."""
        self.history.unmark()

    # Messages

    @on(Input.Changed, "#search Input")
    def _search_changed(self, message: Input.Changed) -> None:
        self.searcher.typed(message.value)

    @on(Input.Submitted, "#search Input")
    def _search_submitted(self, message: Input.Submitted) -> None:
        self.searcher.submitted(message.value)

    @on(Ask.Answered)
    def _answered(self, message: Ask.Answered) -> None:
        if message.subject == REPLACE:
            self.replacer.answered(message.key)
        else:
            self._file.answered(message.key, subject=message.subject)

    @on(Input.Submitted, "#entry Input")
    def _entered(self, message: Input.Submitted) -> None:
        self.replacer.submitted(message.value)

    @on(SourcePane.Typed)
    def _typed(self) -> None:
        self._file.typed()
