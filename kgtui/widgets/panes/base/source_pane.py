"""The user's file: shown while another program edits it, or edited here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import TextArea

from kgtui.files import disk
from kgtui.state.format.lines import Span, Tone, line, muted, strong
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.controls.titled import Titled
from kgtui.widgets.text.editor import WRONG, SourceEditor


class SourcePane(Titled):
    """The editor, with marks on lines with errors; it never reads or writes the file."""

    SEARCHES: ClassVar[bool] = True

    class Edited(Message):
        """Message: the text starts or stops to differ from the loaded one."""

        def __init__(self, *, unsaved: bool) -> None:
            super().__init__()
            self.unsaved = unsaved

    class Typed(Message):
        """Message: the text changed."""

    class CursorMoved(Message):
        """Message: the cursor moved to another line, counted from one."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._loaded = ""
        self._like = b""
        self._unsaved = False
        self._line = 1

    def compose(self) -> ComposeResult:
        """Create the widgets: a title and the text."""
        yield Strip(id="source-title")
        yield SourceEditor(id="source")

    @property
    def editor(self) -> SourceEditor:
        """The text widget."""
        return self.query_one(SourceEditor)

    @property
    def line(self) -> int:
        """The line under the cursor, from one."""
        return int(self.editor.cursor_location[0]) + 1

    @property
    def content(self) -> bytes:
        """The content that a save would write."""
        return disk.encoded(self.editor.text, like=self._like)

    @property
    def is_changed(self) -> bool:
        """Whether the text differs from the loaded one; `Edited` arrives later than the letter."""
        return self.editor.text != self._loaded

    @property
    def read(self) -> bytes:
        """The loaded content."""
        return self._like

    @property
    def word(self) -> str:
        """The selected text, or the line under the cursor."""
        return self.editor.selected_text or str(self.editor.document.get_line(self.line - 1))

    def load(self, content: bytes, *, from_the_top: bool = False) -> None:
        """Show this content; the cursor stays unless this is another file."""
        text = disk.editable_text(content)
        self._like = content
        if from_the_top:
            self.editor.goto(1)
        self.editor.reload(disk.shown_text(content) if text is None else text)
        self._loaded = self.editor.text
        self._post_unsaved()

    def replace_text(self, content: bytes) -> None:
        """Show this content instead of the edited text, as an edit that can be undone; the cursor stays."""
        cursor = self.editor.cursor_location
        self._like = content
        self.editor.rewrite(disk.shown_text(content))
        self.editor.move_cursor(cursor)
        self._loaded = self.editor.text
        self._post_unsaved()

    def grow(self, text: str) -> None:
        """Show a growing text, not the user's, with its end visible."""
        self._like = text.encode()
        self.editor.grow(text)
        self._loaded = self.editor.text
        self._post_unsaved()

    def accept(self) -> None:
        """Record that the shown text is the file's content."""
        self._like, self._loaded = self.content, self.editor.text
        self._post_unsaved()

    def edit(self, *, on: bool) -> None:
        """Switch between letters as text and as commands."""
        self.editor.read_only = not on
        # A blinking cursor would send over a kilobyte per second to the terminal.
        self.editor.cursor_blink = on
        self.editor.tab_behavior = "indent" if on else "focus"
        self.set_class(on, "-editing")
        if on:
            self.screen.set_focus(self.editor)

    def mark(self, notes: Mapping[int, str]) -> None:
        """Mark the lines with errors, each with its message."""
        self.editor.set_marks({number: replace(WRONG, note=note) for number, note in notes.items()})

    def go_to(self, line_number: int) -> None:
        """Put the cursor on a line, counted from one."""
        self.editor.goto(line_number)

    def take_keys(self, line_number: int | None = None) -> None:
        """Focus the text, with the cursor on this line if one is given."""
        if line_number is not None:
            self.go_to(line_number)
        self.screen.set_focus(self.editor)

    def link(self, line_number: int | None) -> None:
        """Highlight the source line of the code under the cursor; None removes the highlight."""
        self.editor.link(line_number)

    @property
    def is_searched(self) -> bool:
        """Whether there was a search whose matches can be stepped through."""
        return bool(self.editor.finder.sought)

    def search(self, text: str) -> int | None:
        """Search for `text` in the source and return the number of matches."""
        return self.editor.finder.search(text)

    def end_search(self) -> None:
        """Keep the match without a selection that typing would replace."""
        self.editor.finder.release()

    def hit(self, step: int) -> bool:
        """Go to the next or the previous match; False if there is none."""
        is_found = self.editor.finder.hit(step)
        self.editor.finder.release()
        return is_found

    def title(self, name: str, *, folder: str, marked: int, kind: str = "") -> None:
        """Show the file's name, and the `kind` of text if it is not the file."""
        changed = Span(" ~", Tone.WARN) if self._unsaved else Span("")
        left = line(strong(name), changed, muted(f"  {folder}"))
        words = kind or ("editing" if self.has_class("-editing") else "watching")
        errors = f"{marked} line{'s' if marked != 1 else ''} marked  " if marked else ""
        self.query_one(Strip).show(((left, line(Span(errors, Tone.BAD), muted(words))),))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Post Edited when the text starts or stops to differ from the file."""
        event.stop()
        self._post_unsaved()
        self.post_message(self.Typed())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Post CursorMoved when the cursor moves to another line."""
        event.stop()
        if self.line != self._line:
            self._line = self.line
            self.editor.link(None)
            self.post_message(self.CursorMoved(self._line))

    def _post_unsaved(self) -> None:
        unsaved = self.is_changed
        if unsaved != self._unsaved:
            self._unsaved = unsaved
            self.post_message(self.Edited(unsaved=unsaved))
