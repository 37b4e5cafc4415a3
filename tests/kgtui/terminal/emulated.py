"""What a terminal would show and remember of the bytes that a program writes to it: as much as Textual makes use of.

It follows the program's bytes and nothing else, and what it does not know it keeps in `unknown` instead of passing
over it, so that a new sequence fails a test and is looked up.
"""

from __future__ import annotations

import codecs
import re

from rich.cells import get_character_cell_size

SHOWN_CURSOR, WRAPPING = 25, 7
AS_BEFORE = frozenset({SHOWN_CURSOR, WRAPPING})
ALTERNATE = 1049
FRAME = 2026
TITLE = "a shell"

_PIECE = re.compile(
    r"\x1b\[(?P<private>[<=>?]?)(?P<numbers>[\d;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?P<command>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b(?P<short>[()][A-Z0-9]|[78=>cDEHM])"
    r"|(?P<text>[^\x1b]+)"
)


class EmulatedTerminal:
    """A screen of cells, the modes that are set, and what the program should hear in return."""

    def __init__(self, columns: int, rows: int) -> None:
        self.modes = set(AS_BEFORE)
        self.kitty_depth = 0
        self.title = TITLE
        self._titles: list[str] = []
        self.bells = 0
        self.raw = bytearray()
        """Everything that was written, as it came."""
        self.outside = ""
        """The text that was written while the alternate screen was not shown."""
        self.scrolled = 0
        """How often the screen moved up a row, which an application that places its text never makes it do."""
        self.pointer = "default"
        self.unknown: list[str] = []
        self.replies = bytearray()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Resize and clear the screen, so that only what is drawn again is visible."""
        self.columns, self.rows = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """The rows of the screen as text."""
        return ["".join(row).rstrip() for row in self._cells]

    @property
    def text(self) -> str:
        """The whole screen as text."""
        return "\n".join(self.lines)

    @property
    def whole(self) -> bool:
        """Whether what is there is a frame and not the beginning of one, which a terminal would not show yet."""
        return FRAME not in self.modes

    @property
    def restored(self) -> bool:
        """Whether modes, keyboard and pointer are as a program found them that was started from a shell."""
        return (self.modes, self.kitty_depth, self.pointer) == (AS_BEFORE, 0, "default")

    def feed(self, written: bytes) -> None:
        """Follow these bytes."""
        self.raw += written
        pending = self._rest + self._decode(written)
        place = 0
        while place < len(pending) and (piece := _PIECE.match(pending, place)):
            place = piece.end()
            self._follow(piece)
        self._rest = pending[place:]

    def _follow(self, piece: re.Match[str]) -> None:
        if (text := piece["text"]) is not None:
            self._write(text)
        elif piece["final"] is not None:
            self._control(piece)
        elif (command := piece["command"]) is not None:
            kind, _, words = command.partition(";")
            if kind in ("0", "2"):
                self.title = words
            elif kind == "22":
                self.pointer = words
            elif kind not in ("8", "52"):
                self.unknown.append(piece[0])
        else:
            self.unknown.append(piece[0])

    def _control(self, piece: re.Match[str]) -> None:
        numbers = [int(number or 0) for number in re.split("[;:]", piece["numbers"])]
        match piece["private"], piece["between"], piece["final"]:
            case "", "", "m":
                pass
            case "", "", "H":
                self._row = max(1, numbers[0]) - 1
                self._column = max(1, numbers[1] if len(numbers) > 1 else 1) - 1
            case "", "", "t" if numbers[0] == 22:
                self._titles.append(self.title)
            case "", "", "t" if numbers[0] == 23:
                self.title = self._titles.pop() if self._titles else ""
            case "", "", "n" if numbers == [6]:
                self.replies += f"\x1b[{self._row + 1};{self._column + 1}R".encode()
            case "?", "", "h":
                self._set(numbers)
            case "?", "", "l":
                self._reset(numbers)
            case "?", "$", "p":
                # It keeps a frame back until it is whole, and does not tell of its size.
                self.replies += f"\x1b[?{numbers[0]};{2 if numbers[0] == FRAME else 0}$y".encode()
            case ">", "", "u":
                self.kitty_depth += 1
            case "<", "", "u":
                self.kitty_depth = max(0, self.kitty_depth - max(1, numbers[0]))
            case _:
                self.unknown.append(piece[0])

    def _set(self, numbers: list[int]) -> None:
        self.modes |= set(numbers)
        if ALTERNATE in numbers:
            self.resize(self.columns, self.rows)

    def _reset(self, numbers: list[int]) -> None:
        self.modes -= set(numbers)
        if ALTERNATE in numbers:
            self.resize(self.columns, self.rows)

    def _write(self, text: str) -> None:
        if ALTERNATE not in self.modes:
            self.outside += text
            return
        for sign in text:
            if sign == "\a":
                self.bells += 1
            elif sign == "\r":
                self._column = 0
            elif sign == "\n":
                self._next_row()
            elif sign < " " or sign == "\x7f":
                self.unknown.append(sign)
            else:
                self._put(sign)

    def _next_row(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
        else:
            self.scrolled += 1
            self._cells = [*self._cells[1:], [" "] * self.columns]

    def _put(self, sign: str) -> None:
        width = get_character_cell_size(sign)
        if not (0 <= self._row < self.rows and 0 <= self._column < self.columns):
            return
        cells = self._cells[self._row]
        if width == 0:
            cells[self._column - 1] += sign
            return
        for place in range(self._column, min(self._column + width, self.columns)):
            cells[place] = ""
        cells[self._column] = sign
        self._column += width
