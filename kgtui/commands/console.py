"""What a command talks to: two streams, the environment and the folder that it was started in.

The only place that knows about colour.  Everything here is an argument, so that a test passes in
its own.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from engine.model import Outcome, Severity, Verdict
from engine.report import FLAGGED, LOG, PlainLine

_RESET, _GREEN, _YELLOW, _RED = "\x1b[0m", "\x1b[32m", "\x1b[33m", "\x1b[31m"
_DOUBTS = frozenset({FLAGGED, Outcome.UNSUPPORTED, Outcome.CANCELLED, Outcome.REFUSED, *Severity})
_FLAGS = frozenset({Outcome.CHEATED, Outcome.TAMPERED})
_OURS = frozenset({Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED})


class Exit(enum.IntEnum):
    """How a command ended.  INTERRUPTED and BROKEN_PIPE are what a shell calls death by SIGINT and SIGPIPE."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    ENGINE = 3
    FLAGGED = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


def exit_of(verdict: Verdict) -> Exit:
    """The exit code that tells a script what the verdict says."""
    if verdict.flagged or verdict.outcome in _FLAGS:
        return Exit.FLAGGED
    if verdict.outcome is Outcome.PASS:
        return Exit.PASSED
    if verdict.outcome in _OURS:
        return Exit.ENGINE
    if verdict.outcome is Outcome.CANCELLED:
        return Exit.INTERRUPTED
    return Exit.USAGE if verdict.outcome is Outcome.REFUSED else Exit.FAILED


@dataclass(frozen=True, kw_only=True)
class Console:
    """Where a command was typed.  `folder` is what relative paths start from."""

    out: TextIO
    err: TextIO
    stdin: TextIO
    environment: Mapping[str, str]
    folder: Path

    @property
    def has_terminal(self) -> bool:
        """Whether a screen can be drawn and keys can be read; Textual draws on the error stream."""
        return self.stdin.isatty() and self.out.isatty() and self.err.isatty()

    def say(self, text: str) -> None:
        """A line on the output, there at once for whoever reads the pipe."""
        self.out.write(f"{text}\n")
        self.out.flush()

    def warn(self, text: str) -> None:
        """A line beside the output."""
        self.err.write(f"kgtui: {text}\n")
        self.err.flush()

    def show(self, line: PlainLine, *, plain: bool, aside: bool = False) -> None:
        """A state change; a candidate's own words, and everything `aside`, go to the error stream."""
        stream = self.err if aside or line.label == LOG else self.out
        stream.write(f"{line if plain or not self._takes_colour(stream) else _coloured(line)}\n")
        stream.flush()

    def _takes_colour(self, stream: TextIO) -> bool:
        return stream.isatty() and not self.environment.get("NO_COLOR") and self.environment.get("TERM") != "dumb"


def _coloured(line: PlainLine) -> str:
    colour = _colour_of(line.state)
    if line.label == LOG or colour is None:
        return str(line)
    before, state, after = str(line).partition(f"{line.state}")
    return f"{before}{colour}{state}{_RESET}{after}"


def _colour_of(state: str) -> str | None:
    if state == Outcome.PASS:
        return _GREEN
    if state in _DOUBTS:
        return _YELLOW
    return _RED if state in frozenset(Outcome) else None
