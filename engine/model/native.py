"""CUDA and C++ that a candidate compiles when it is loaded: the texts, and the place of each character in the file.

Only records.  The texts are read from the syntax tree; unknown parts are marked.
"""

from __future__ import annotations

import bisect
import enum
from dataclasses import dataclass, field

from engine.model.results import Location

SEPARATE_UNITS = "separate_units"
"""Argument of `load_inline` in a process with a candidate, beside those of torch: each text is a separate file."""


class NativeLanguage(enum.StrEnum):
    """Language of a native source text."""

    CUDA = "cuda"
    CPP = "c++"


class ExtensionKind(enum.StrEnum):
    """The function that compiles it: torch.utils.cpp_extension's, or one that calls NVRTC in the worker."""

    INLINE = "load_inline"
    FILES = "load"
    NVRTC = "nvrtc"


@dataclass(frozen=True, kw_only=True)
class TextPiece:
    """From character `offset` of a text on, up to the next piece: characters of one line of the file.

    The first of them is at `line` and `column`, which count from one.  If a piece is not `exact`, all of its characters
    have that place: the string was computed, and only the expression that computes it is known.
    """

    offset: int
    line: int
    column: int
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class NativeText:
    """One source text; `label` is its name in messages of the compiler, such as "cuda_sources[0]"."""

    label: str
    language: NativeLanguage
    text: str
    pieces: tuple[TextPiece, ...]

    def location_of(self, line: int, column: int | None = None) -> Location | None:
        """The place in the candidate's file of a line and column of this text; None if the text has no such line."""
        lines = self.text.split("\n")
        if not 1 <= line <= len(lines):
            return None
        start = sum(len(one) + 1 for one in lines[: line - 1])
        found = self.at(start + min((column or 1) - 1, len(lines[line - 1])))
        return found if column is not None else Location(line=found.line)

    def at(self, offset: int) -> Location:
        """The place in the candidate's file of one character of this text."""
        piece = self.pieces[max(0, bisect.bisect_right(self.pieces, offset, key=lambda one: one.offset) - 1)]
        return Location(line=piece.line, column=piece.column + (offset - piece.offset if piece.exact else 0))


@dataclass(frozen=True, kw_only=True)
class Extension:
    """One call that compiles native code, as found in the syntax tree.

    `unknown` are the parts that the tree does not show, each as a clause: "cuda_sources is computed when the file is
    loaded".
    """

    kind: ExtensionKind
    name: str
    line: int
    texts: tuple[NativeText, ...] = ()
    functions: tuple[str, ...] = ()
    unknown: tuple[str, ...] = field(default=())
