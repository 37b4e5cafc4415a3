"""Marks of a line of code: a failed case, a finding, the line that an instruction came from."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A glyph of one cell in a theme's style, and a short text at the end of the line."""

    glyph: str
    style: str
    note: str = ""

    def __post_init__(self) -> None:
        if cell_len(self.glyph) != 1:
            raise ValueError(f"a mark takes one cell in the gutter, {self.glyph!r} takes {cell_len(self.glyph)}")
