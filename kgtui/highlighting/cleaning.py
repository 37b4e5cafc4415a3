"""Make text from anywhere safe to draw: it may not steer the terminal, nor show other than it is.

Programs print escape sequences and progress bars, and a source can hold characters that reorder what
is read.  Nothing is left of the first; the last are made visible.
"""

from __future__ import annotations

import re

TAB_COLUMNS = 8
VISIBLE = "\N{REPLACEMENT CHARACTER}"

# Colours and cursor movements; titles and links up to their end; the short sequences.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]"
)
_REORDERING = (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029, *_REORDERING), VISIBLE)


def cleaned(line: str, *, longest: int) -> str:
    """One line of text without control characters, its tabs as spaces, cut to `longest` characters.

    Where a line was written over from its start, as progress bars do, the last writing counts.
    """
    if not line.isprintable():
        if "\x1b" in line or "\x9b" in line:
            line = _ESCAPES.sub("", line)
        line = line.rstrip("\r").rpartition("\r")[2].expandtabs(TAB_COLUMNS).translate(_CONTROLS)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def lines_of(text: str) -> list[str]:
    """The lines of a text; the end of the last line begins no other."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
