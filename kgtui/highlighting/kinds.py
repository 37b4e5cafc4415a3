"""The kinds of text that the screen colours; separate from the lexers, whose import is slow."""

from __future__ import annotations

import enum


class TextKind(enum.StrEnum):
    """Kind of a text; the names of the IRs are those of the artefacts."""

    PYTHON = "python"
    TTIR = "ttir"
    TTGIR = "ttgir"
    LLIR = "llir"
    PTX = "ptx"
    AMDGCN = "amdgcn"
    SASS = "sass"
    LOG = "log"
    DIFF = "diff"
    PLAIN = "plain"

    @classmethod
    def _missing_(cls, value: object) -> TextKind:
        """Map any other kind of text to plain."""
        return cls.PLAIN
