"""One candidate's source, read once for all checks: its code index, its tensors and its launches."""

from __future__ import annotations

from functools import cached_property

from engine.model.parsing import parse
from engine.static.analysis.code_index import CodeIndex
from engine.static.analysis.launches import Launches
from engine.static.analysis.tensors import Tensors


class Reading(CodeIndex):
    """The code index together with what is derived from it, each computed at first use."""

    @classmethod
    def of(cls, text: str, *, entry: str | None = None) -> Reading:
        """Parse and read a text.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
        """
        return cls(parse(text), text=text, entry=entry)

    @cached_property
    def tensors(self) -> Tensors:
        """Which expressions are tensors."""
        return Tensors(self)

    @cached_property
    def launches(self) -> Launches:
        """Launches of kernels."""
        return Launches(self)
