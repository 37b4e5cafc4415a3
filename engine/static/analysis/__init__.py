"""Analysis of a candidate's text, without running any of it.

Determines for the static checks what a name refers to, which code runs, what is a tensor and what a kernel writes.
Everything is a guess from spelling: it may miss, it must never decide, and it must never raise on a text that Python
can parse.
"""

from __future__ import annotations

from engine.static.analysis.reading import Reading

__all__ = ["Reading"]
