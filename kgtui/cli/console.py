"""Input and output of a command: two streams, the environment and the working folder.

The only module that knows about colour; all output passes through it.  Streams and environment are arguments, so that a
test passes its own.
"""

from __future__ import annotations

import enum
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from engine.reports.printable import printable
from kgtui.ports.exit_code import Exit as Exit
from kgtui.state.format.encodings import has_signs

_WIDTH_DIGITS = 4
_LEAST_WIDTH, _USUAL_WIDTH = 40, 80
_MARKDOWN_WIDTH = 120
# Replacements of the same width, so that columns stay aligned.
_ASCII_SIGNS = str.maketrans({
    "\N{NO-BREAK SPACE}": " ", "·": ".", "–": "-", "×": "x", "µ": "u", "▸": ">", "█": "#", "✔": "+", "✗": "x",
    "±": "+-", "…": "...",
})  # fmt: skip
_HARMLESS = frozenset("\n\t\N{NO-BREAK SPACE}")


class Style(enum.StrEnum):
    """A colour or a weight, as the sequence that begins it (ECMA-48, select graphic rendition)."""

    NONE = ""
    BOLD = "\x1b[1m"
    GREEN = "\x1b[32m"
    YELLOW = "\x1b[33m"
    RED = "\x1b[31m"


_RESET = "\x1b[0m"


@dataclass(frozen=True, kw_only=True)
class Console:
    """Console of a command.  `folder` is the base of relative paths.

    With `is_ascii` only ASCII is written, except for documents: glyphs are replaced, and other letters are escaped.
    """

    out: TextIO
    err: TextIO
    stdin: TextIO
    environment: Mapping[str, str]
    folder: Path
    is_ascii: bool = False

    @property
    def has_terminal(self) -> bool:
        """Whether a screen can be drawn and keys can be read; Textual draws on standard error."""
        return self.stdin.isatty() and self.out.isatty() and self.err.isatty()

    @property
    def width(self) -> int:
        """Number of columns for a line of output: COLUMNS, else the terminal's, else 80."""
        asked = self.environment.get("COLUMNS", "")
        if asked.isdecimal() and len(asked) <= _WIDTH_DIGITS and int(asked):
            return max(_LEAST_WIDTH, int(asked))
        try:
            return max(_LEAST_WIDTH, os.get_terminal_size(self.out.fileno()).columns)
        except OSError:  # no terminal; a stream without a descriptor raises a subclass
            return _USUAL_WIDTH

    def can_write(self, signs: str) -> bool:
        """Whether the output can show these glyphs without escaping them."""
        return not self.is_ascii and has_signs(self.out.encoding, signs)

    def say(self, text: str) -> None:
        """Write a line to the output and flush it."""
        self.write_line(text)

    def ask(self, question: str) -> str:
        """Ask a question; returns the typed answer."""
        self.out.write(f"\n{self._signed(question)} ")
        self.out.flush()
        return self.stdin.readline()

    def write_document(self, document: str) -> None:
        """Write a document to the output: complete, and UTF-8 whatever the locale."""
        self.write_pieces((document, "\n"))

    def write_pieces(self, pieces: Iterable[str]) -> None:
        """Write a document as `write_document` does, piece by piece; the last piece ends its last line."""
        self.out.flush()
        for piece in pieces:
            if self.out.isatty():  # a terminal gets no control characters, a program the unchanged document
                self.out.write(without_control_characters(piece))
            elif isinstance(self.out, io.TextIOWrapper):
                self.out.buffer.write(piece.encode(errors="backslashreplace"))
            else:
                self.out.write(piece)
        self.out.flush()

    def warn(self, text: str) -> None:
        """Write a line to the error stream."""
        self.write_line(f"kgtui: {text}", aside=True)

    def trace(self, text: str) -> None:
        """Write the lines of a traceback to the error stream."""
        self.write_line(text.rstrip("\n"), aside=True)

    def write_line(
        self, text: str, *, aside: bool = False, styled: str = "", style: Style = Style.NONE, plain: bool = False
    ) -> None:
        """Write lines to the output, or with `aside` to the error stream, and flush; style the first `styled`."""
        stream = self.err if aside else self.out
        signed = self._signed(text)
        before, found, after = signed.partition(styled) if styled and style else (signed, "", "")
        if found and not plain and self._takes_colour(stream):
            signed = f"{before}{style}{found}{_RESET}{after}"
        stream.write(f"{signed}\n")
        stream.flush()

    def write_parts(self, parts: Iterable[tuple[str, tuple[Style, ...]]], *, plain: bool = False) -> None:
        """Write one line to the output, made of texts and their styles."""
        if plain or not self._takes_colour(self.out):
            self.write_line("".join(text for text, _ in parts).rstrip())
            return
        for text, styles in parts:
            sequence = "".join(styles)
            self.out.write(f"{sequence}{self._signed(text)}{_RESET}" if sequence else self._signed(text))
        self.out.write("\n")
        self.out.flush()

    def show_markdown(self, text: str) -> None:
        """Write a Markdown page: formatted in a terminal that can show it, as source elsewhere."""
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

    def _signed(self, text: str) -> str:
        """The text in the chosen glyph set, with control characters replaced."""
        text = without_control_characters(text)
        if not self.is_ascii or text.isascii():
            return text
        return text.translate(_ASCII_SIGNS).encode("ascii", errors="backslashreplace").decode()

    def _takes_colour(self, stream: TextIO) -> bool:
        return stream.isatty() and not self.environment.get("NO_COLOR") and self.environment.get("TERM") != "dumb"


def without_control_characters(text: str) -> str:
    """The text with terminal control characters escaped; it may have several lines."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in _HARMLESS else printable(char) for char in text)
