"""Makes untrusted text safe to draw: without terminal control, and shown in its true order.
Programs print escape sequences and progress bars, and a source can contain characters that reorder text.  The former
are removed; the latter are made visible.
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
_CONTROLS: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029, *_REORDERING), VISIBLE)

_SAME_PLACES = {code: sign for code, sign in _CONTROLS.items() if code != ord("\t")}


def cleaned(line: str, *, longest: int) -> str:
    """One line of text without control characters, its tabs as spaces, cut to `longest` characters.

    If a line was overwritten from its start, as progress bars do, the last version counts.
    """
    line = harmless(line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def harmless(line: str) -> str:
    """As `cleaned`, without the limit of length."""
    if line.isprintable():
        return line
    if "\x1b" in line or "\x9b" in line:
        line = _ESCAPES.sub("", line)
    return line.rstrip("\r").rpartition("\r")[2].expandtabs(TAB_COLUMNS).translate(_CONTROLS)


def made_visible(line: str) -> str:
    """The line in the same number of characters, with control and reordering characters replaced; tabs stay."""
    return line if line.isprintable() else line.translate(_SAME_PLACES)


def harmless_lines(text: str) -> str:
    """Text of several lines without escape sequences, other control characters visible; tabs and line ends stay."""
    return text if text.isprintable() else "\n".join(made_visible(_ESCAPES.sub("", line)) for line in text.split("\n"))


def lines_of(text: str) -> list[str]:
    """The lines of a text; a final line end starts no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
