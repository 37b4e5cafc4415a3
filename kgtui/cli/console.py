"""What a command talks to: two streams, the environment and the folder that it was started in.

The only place that knows about colour, and the last one to see what is printed.  Everything here is an argument, so
that a test passes in its own.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from engine.inspection.page import Mark
from engine.inspection.text import PageLine
from engine.model import Outcome, Severity, Verdict
from engine.reports.text import LOG, PlainLine, printable
from engine.reports.verdict_words import FLAGGED
from kgtui.ports.exit_code import Exit as Exit
from kgtui.state.format.glyphs import has_signs

_RESET, _BOLD, _GREEN, _YELLOW, _RED = "\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m"
_MARKS = {Mark.GOOD: _GREEN, Mark.DOUBT: _YELLOW, Mark.BAD: _RED}
_DOUBTS = frozenset({FLAGGED, Outcome.UNSUPPORTED, Outcome.CANCELLED, Outcome.REFUSED, *Severity})
_FLAGS = frozenset({Outcome.CHEATED, Outcome.TAMPERED})
_WIDTH_DIGITS = 4
_LEAST_WIDTH, _USUAL_WIDTH = 40, 80
_MARKDOWN_WIDTH = 120
# Of what a table did not choose for itself: what is as wide comes first, for columns stay columns then.
_ASCII_SIGNS = str.maketrans({
    "\N{NO-BREAK SPACE}": " ", "·": ".", "–": "-", "×": "x", "µ": "u", "▸": ">", "█": "#", "✔": "+", "✗": "x",
    "±": "+-", "…": "...",
})  # fmt: skip
_HARMLESS = frozenset("\n\t\N{NO-BREAK SPACE}")
_OURS = frozenset({Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED})


def exit_of(verdict: Verdict) -> Exit:
    """The exit code that tells a script what the verdict says."""
    return Exit.FLAGGED if verdict.flagged else exit_of_outcome(verdict.outcome)


def exit_of_outcome(outcome: Outcome) -> Exit:
    """The exit code that tells a script what became of a run or of a case."""
    if outcome in _FLAGS:
        return Exit.FLAGGED
    if outcome is Outcome.PASS:
        return Exit.PASSED
    if outcome in _OURS:
        return Exit.ENGINE
    if outcome is Outcome.CANCELLED:
        return Exit.INTERRUPTED
    return Exit.USAGE if outcome is Outcome.REFUSED else Exit.FAILED


@dataclass(frozen=True, kw_only=True)
class Console:
    """Where a command was typed.  `folder` is what relative paths start from.

    With `is_ascii` nothing else is written, but for documents: our signs have others, and a letter of a name is
    spelled out.
    """

    out: TextIO
    err: TextIO
    stdin: TextIO
    environment: Mapping[str, str]
    folder: Path
    is_ascii: bool = False

    @property
    def has_terminal(self) -> bool:
        """Whether a screen can be drawn and keys can be read; Textual draws on the error stream."""
        return self.stdin.isatty() and self.out.isatty() and self.err.isatty()

    @property
    def width(self) -> int:
        """How many columns a line of the output may take: COLUMNS, else the terminal's, else 80."""
        asked = self.environment.get("COLUMNS", "")
        if asked.isdecimal() and len(asked) <= _WIDTH_DIGITS and int(asked):
            return max(_LEAST_WIDTH, int(asked))
        try:
            return max(_LEAST_WIDTH, os.get_terminal_size(self.out.fileno()).columns)
        except OSError:  # no terminal; a stream without a descriptor raises a kind of it
            return _USUAL_WIDTH

    def can_write(self, signs: str) -> bool:
        """Whether the output has these signs, or would spell them out."""
        return not self.is_ascii and has_signs(self.out.encoding, signs)

    def say(self, text: str) -> None:
        """A line on the output, there at once for whoever reads the pipe."""
        self._write(self.out, text)

    def ask(self, question: str) -> str:
        """What is typed in answer."""
        self.out.write(f"\n{self._signed(question)} ")
        self.out.flush()
        return self.stdin.readline()

    def hand_out(self, document: str) -> None:
        """A document on the output: for a program or a file, so it is whole, and UTF-8 whatever the locale."""
        self.hand_out_pieces((document, "\n"))

    def hand_out_pieces(self, pieces: Iterable[str]) -> None:
        """A document as `hand_out`, written as its pieces come; the last ends its last line."""
        self.out.flush()
        for piece in pieces:
            if self.out.isatty():  # a program reads no terminal, and what is shown there may not steer it
                self.out.write(unsteered(piece))
            elif isinstance(self.out, io.TextIOWrapper):
                self.out.buffer.write(piece.encode(errors="backslashreplace"))
            else:
                self.out.write(piece)
        self.out.flush()

    def warn(self, text: str) -> None:
        """A line beside the output."""
        self._write(self.err, f"kgtui: {text}")

    def trace(self, text: str) -> None:
        """The lines of a traceback beside the output."""
        self._write(self.err, text.rstrip("\n"))

    def show(self, line: PlainLine, *, plain: bool, aside: bool = False) -> None:
        """A state change; a candidate's own words, and everything `aside`, go to the error stream."""
        stream = self.err if aside or line.label == LOG else self.out
        self._write(stream, str(line), *([] if plain or not self._takes_colour(stream) else _colours(line)))

    def show_page(self, lines: Iterable[PageLine], *, plain: bool) -> None:
        """A page on the output, line by line."""
        takes_colour = not plain and self._takes_colour(self.out)
        for line in lines:
            if takes_colour:
                self.out.write(f"{''.join(self._coloured_parts(line))}\n")
                self.out.flush()
            else:
                self.say(str(line))

    def show_markdown(self, text: str) -> None:
        """A Markdown page: formatted in a terminal that can show it, its source elsewhere."""
        if not self.out.isatty() or self.environment.get("TERM") == "dumb" or not self.can_write("─━•"):
            self.say(text.rstrip("\n"))
            return
        from rich.console import Console as RichConsole
        from rich.markdown import Markdown

        rich = RichConsole(
            file=self.out,
            width=min(self.width, _MARKDOWN_WIDTH),
            force_terminal=True,
            legacy_windows=False,
            no_color=not self._takes_colour(self.out),
            _environ=self.environment,
        )
        rich.print(Markdown(text))
        self.out.flush()

    def _coloured_parts(self, line: PageLine) -> Iterator[str]:
        for part in line.parts:
            colour = (_BOLD if part.strong else "") + _MARKS.get(part.mark, "")
            text = self._signed(part.text)
            yield f"{colour}{text}{_RESET}" if colour else text

    def _write(self, stream: TextIO, text: str, state: str = "", colour: str = "") -> None:
        """Lines on a stream, there at once; the first `state` in them in this colour."""
        before, found, after = self._signed(text).partition(state) if state else (self._signed(text), "", "")
        stream.write(f"{before}{colour}{found}{_RESET}{after}\n" if found else f"{before}\n")
        stream.flush()

    def _signed(self, text: str) -> str:
        """The text in the signs that are wished for, without any that would steer a terminal."""
        text = unsteered(text)
        if not self.is_ascii or text.isascii():
            return text
        return text.translate(_ASCII_SIGNS).encode("ascii", errors="backslashreplace").decode()

    def _takes_colour(self, stream: TextIO) -> bool:
        return stream.isatty() and not self.environment.get("NO_COLOR") and self.environment.get("TERM") != "dumb"


def unsteered(text: str) -> str:
    """Text of any number of lines, in which all that could steer a terminal is spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _HARMLESS else printable(char) for char in text)


def _colours(line: PlainLine) -> tuple[str, ...]:
    """The state of a line and its colour; nothing for a line without one."""
    colour = _colour_of(line.state)
    return () if line.label == LOG or colour is None else (f"{line.state}", colour)


def _colour_of(state: str) -> str | None:
    if state == Outcome.PASS:
        return _GREEN
    if state in _DOUBTS:
        return _YELLOW
    return _RED if state in frozenset(Outcome) else None
