"""A verdict in one word, and why the times of a run do not count."""

from __future__ import annotations

from engine.model import Outcome, Verdict

FLAGGED = "flagged"
UNFINISHED = "the run did not finish"


def word_of(verdict: Verdict) -> str:
    """The verdict in one word: its outcome, or "flagged" if the outputs are right but not credible."""
    return FLAGGED if verdict.flagged else verdict.outcome


def doubt_of(verdict: Verdict) -> str:
    """Why the times of a run with this verdict do not count; "" if they do."""
    if verdict.outcome is Outcome.PASS and not verdict.flagged:
        return ""
    return f"these times do not count: the verdict is {word_of(verdict)}, {verdict.sentence}"
