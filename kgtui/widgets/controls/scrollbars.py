"""Scroll bars for fonts that have no eighths of a block: their ends are at whole cells."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBarRender


class WholeCells(ScrollBarRender):
    """A scroll bar of coloured spaces."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * len(ScrollBarRender.VERTICAL_BARS)
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * len(ScrollBarRender.HORIZONTAL_BARS)
