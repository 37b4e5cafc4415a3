"""Draws one line of read-only text: number, mark, inks, matches of a search, links."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.cache import LRUCache
from textual.strip import Strip
from textual.widget import Widget

from kgtui.highlighting.inks import ThemedInks, rich_style
from kgtui.highlighting.marks import Mark
from kgtui.widgets.text.code_lines import CodeLines, Hits

CACHED_LINES = 512


class LinePainter:
    """The painter of one view, whose style sheet has the components; caches the strips of drawn lines."""

    def __init__(self, view: Widget, *, line_numbers: bool) -> None:
        self._view = view
        self._line_numbers = line_numbers
        self.lines = CodeLines()
        self.hits = Hits()
        self.marks: dict[int, Mark] = {}
        self.linked: frozenset[int] = frozenset()
        self._inks = ThemedInks()
        self._strips: LRUCache[tuple[int, bool, bool], Strip] = LRUCache(CACHED_LINES)

    def show(self, lines: CodeLines) -> None:
        """Draw these lines from now on, without marks and links."""
        self.lines, self.marks, self.linked = lines, {}, frozenset()

    def forget(self) -> None:
        """Drop cached strips after a change of appearance."""
        self._strips.clear()

    def strip(self, line: int, background: RichStyle, *, is_cursor: bool) -> Strip:
        """The whole line, coloured, on its background."""
        index, selection = line - self.lines.first, self._view.text_selection
        key = (line, is_cursor, line in self.linked)
        if selection is None and (known := self._strips.get(key)) is not None:
            return known
        text = Text(self.lines.texts[index], no_wrap=True, end="")  # not Style: a Text without spans would not be drawn
        inks = self._inks.under(self._view.app.theme_variables, self._view.background_colors[1])
        for span in self.lines.colours(index):
            text.stylize(inks[span.ink], span.start, span.end)
        self._stylize_hits(text, line)
        if selection is not None and (selected := selection.get_span(index)) is not None:
            start, end = selected
            style = self._view.screen.get_component_rich_style("screen--selection")
            text.stylize(style, start, len(text) if end == -1 else end)
        strip = Strip(text.render(self._view.app.console), cell_len(text.plain)).apply_style(background)
        if selection is None:
            self._strips[key] = strip
        return strip

    def _stylize_hits(self, text: Text, line: int) -> None:
        for hit in self.hits.on(line):
            here = hit == self.hits.here
            style = self._view.get_component_rich_style("code--hit-here") if here else self._backdrop("code--hit")
            text.stylize(style, hit[1], hit[1] + len(self.hits.sought))

    def background(self, line: int, base: RichStyle, *, is_cursor: bool) -> RichStyle:
        """The background of a line."""
        if line in self.linked:
            base += self._backdrop("code--linked")
        if is_cursor:
            base += self._backdrop("code--cursor")
        return base

    def _backdrop(self, name: str) -> RichStyle:
        """The part of a component's style that does not change inks."""
        style = self._view.get_component_rich_style(name)
        return RichStyle(bgcolor=style.bgcolor, bold=style.bold, underline=style.underline, reverse=style.reverse)

    def gutter(self, line: int, base: RichStyle) -> Strip:
        """The line number and the glyph of its mark."""
        if not self.gutter_columns:
            return Strip([], 0)
        number = f"{line:>{self.gutter_columns - 2}}" if self._line_numbers else ""
        style = self._view.get_component_rich_style("code--gutter")
        mark = self.marks.get(line)
        if mark is None:
            return Strip([Segment(f"{number}  ", style)], self.gutter_columns)
        marked = base + rich_style(mark.style, self._view.app.theme_variables, self._view.background_colors[1])
        return Strip([Segment(number, style), Segment(mark.glyph, marked), Segment(" ", style)], self.gutter_columns)

    @property
    def gutter_columns(self) -> int:
        """The width of the numbers and marks."""
        if self._line_numbers:
            return len(str(self.lines.last)) + 2
        return 2 if self.marks else 0
