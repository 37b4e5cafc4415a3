"""Labels of the tabs beside the source."""

from __future__ import annotations

from kgtui.state.format.lines import Line, Span, Tone, line, muted


def tab_line(number: int, title: str, label: Line, *, stale: bool = False) -> Line:
    """The number of the tab, its title, and its label with the number of entries.
    The first part of the label is drawn in the tone of the title; for `stale` results that word replaces it, since
    there is no room for both beside the other tabs.
    """
    if stale:
        return line(muted(f"{number} "), title, Span(" stale", Tone.WARN), *label[1:])
    count = label[0] if label else Span("")
    return line(muted(f"{number} "), Span(f"{title}{count.text}", count.tone if count.text else Tone.PLAIN), *label[1:])
