"""The reason for an exit, taken from what the process printed, as one line; never a traceback."""

from __future__ import annotations

import re

_LINE = 500


def error_line(printed: str) -> str:
    """The last line that names an error, else the last line; "" if nothing was printed."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"error\b", line, re.IGNORECASE)]
    return (named or lines or [""])[-1][-_LINE:]
