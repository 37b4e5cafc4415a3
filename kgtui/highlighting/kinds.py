"""The kinds of text that the screen colours; apart from the lexers, whose import delays a first paint."""

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
        """Any other kind of text is plain."""
        return cls.PLAIN
