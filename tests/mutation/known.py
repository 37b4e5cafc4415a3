"""Survivors that somebody has looked at, each with the reason.

EQUIVALENT mutants compute the right answer, if for another reason than the author's; they do not count.
UNSEEN ones are wrong, and no case shows it; they count against the score.
"""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {}

UNSEEN: dict[str, str] = {}
