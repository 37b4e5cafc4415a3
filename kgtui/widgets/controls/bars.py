"""One-row bars: the tabs, the keys, and the verdict strip with a left and a right part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message

from kgtui.state.format.lines import Line, Span
from kgtui.widgets.text.toned import content_of, shortened
from kgtui.widgets.text.tones import Toned

_KEEP_ACTIVE = 9  # above the priority of every segment
_WIDE = 200  # cells; the width of a bar is unknown before the first layout


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A clickable part of a bar; `key` identifies the click.
    If not all fit, those with the lowest `keep` are left out first, of equal ones the last; an `active` one is kept
    longest.
    """

    key: str
    line: Line
    active: bool = False
    keep: int = 1


class Bar(Toned):
    """Segments side by side; those that do not fit are left out, never cut in two."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"bar--active", "bar--gap"}

    class Chosen(Message):
        """A segment was clicked."""

        def __init__(self, bar: Bar, key: str) -> None:
            super().__init__()
            self.bar = bar
            self.key = key

        @property
        def control(self) -> Bar:
            """The bar, for selectors."""
            return self.bar

    def __init__(self, *, gap: str = "  ", id: str | None = None) -> None:
        super().__init__(id=id)
        self._gap = gap
        self._segments: tuple[Segment, ...] = ()
        self._ends: list[tuple[int, str]] = []

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments of the bar."""
        return self._segments

    def show(self, segments: tuple[Segment, ...]) -> None:
        """Show these segments instead."""
        if segments != self._segments:
            self._segments = segments
            self.refresh()

    def render(self) -> Content:
        """The segments that fit into the width."""
        gap = Content.styled(self._gap, self.get_visual_style("bar--gap", partial=True))
        parts = [content_of(self, segment.line) for segment in self._segments]
        widths = [part.cell_length for part in parts]
        keeps = [_KEEP_ACTIVE if segment.active else segment.keep for segment in self._segments]
        drawn, width, self._ends = Content(""), 0, []
        for place in kept(widths, keeps, gap=gap.cell_length, room=self.size.width):
            segment, part = self._segments[place], parts[place]
            if segment.active:
                part = part.stylize(self.get_visual_style("bar--active"))
            drawn += part + gap
            width += part.cell_length
            self._ends.append((width, segment.key))
            width += gap.cell_length
        return drawn.truncate(self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Report the segment under the pointer."""
        for end, key in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(self, key))
                return


def kept(widths: Sequence[int], keeps: Sequence[int], *, gap: int, room: int) -> list[int]:
    """The indices of the segments that fit into `room` after leaving out the least important ones."""
    places = list(range(len(widths)))
    while places and sum(widths[place] for place in places) + gap * (len(places) - 1) > room:
        places.remove(min(places, key=lambda place: (keeps[place], -place)))
    return places


class Strip(Toned):
    """Rows with a left part, cut to the width, and a right part that is never cut."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[tuple[Line, Line], ...] = ()

    @property
    def rows(self) -> tuple[tuple[Line, Line], ...]:
        """Content of the strip."""
        return self._rows

    def show(self, rows: tuple[tuple[Line, Line], ...]) -> None:
        """Show these rows instead."""
        if rows != self._rows:
            higher_or_lower = len(rows) != len(self._rows)
            self._rows = rows
            self.refresh(layout=higher_or_lower)

    def room_beside(self, right: Line) -> int:
        """Cells for the left part of a row; before the first layout, those of a wide terminal."""
        width = self.content_size.width or _WIDE
        return max(0, width - content_of(self, right).cell_length - (1 if right else 0))

    def render(self) -> Content:
        """The rows for the current width."""
        return Content("\n").join(self._row(left, right) for left, right in self._rows)

    def _row(self, left: Line, right: Line) -> Content:
        end = content_of(self, right)
        # Not `room_beside`: the height of a row is measured before the first layout, and a wide row would be wrapped.
        room = max(0, self.content_size.width - end.cell_length - (1 if right else 0))
        start = shortened(self, left, cells=room)
        start = start.pad_right(max(0, room - start.cell_length))
        return start + content_of(self, (Span(" "),)) + end if right else start
