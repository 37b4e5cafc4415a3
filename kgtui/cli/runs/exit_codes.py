"""The exit codes of commands that run candidates."""

from __future__ import annotations

from engine.model import Outcome, Verdict
from kgtui.ports.exit_code import Exit

_FLAGS = frozenset({Outcome.CHEATED, Outcome.TAMPERED})
_OURS = frozenset({Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED})


def exit_of(verdict: Verdict) -> Exit:
    """Exit code of a verdict, for scripts."""
    return Exit.FLAGGED if verdict.flagged else exit_of_outcome(verdict.outcome)


def exit_of_outcome(outcome: Outcome) -> Exit:
    """Exit code of a run's or a case's outcome, for scripts."""
    if outcome in _FLAGS:
        return Exit.FLAGGED
    if outcome is Outcome.PASS:
        return Exit.PASSED
    if outcome in _OURS:
        return Exit.ENGINE
    if outcome is Outcome.CANCELLED:
        return Exit.INTERRUPTED
    return Exit.USAGE if outcome is Outcome.REFUSED else Exit.FAILED
