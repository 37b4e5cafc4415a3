"""The line of the candidate's file that is being executed."""

from __future__ import annotations

import sys
from types import FrameType


def line_in(filename: str) -> int | None:
    """The line of the innermost frame of this file in the current thread; None if none of it is executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return frame.f_lineno
        frame = frame.f_back
    return None
