"""Messages of the memory checker of the device's vendor, under which a separate worker makes one call."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.protocol.messages import Command, Count, FilePath, Message, Reply, Text, Word
from engine.protocol.verifying import Call, Load

_MOST_TOOLS = 16
_MOST_STATUS = 1 << 16


class Sanitize(Command, tag="sanitize", frozen=True):
    """Worker: run a separate worker under the program `sanitizer`, once per tool, which loads and calls the entry.

    That worker can write `writable` folders only.  At most `most_bytes` of each tool's report are returned.
    """

    sanitizer: FilePath
    tools: tuple[Word, ...]
    load: Load
    call: Call
    writable: tuple[FilePath, ...]
    most_bytes: Count


class SanitizedRun(Message, frozen=True):
    """One tool: its report, the number of bytes cut off it, its exit status, and the result of load and call."""

    tool: Word
    report: Text
    left_out_bytes: Count
    status: Annotated[int, msgspec.Meta(ge=-_MOST_STATUS, le=_MOST_STATUS)]
    trouble: Text = ""


class Sanitized(Reply, tag="sanitized", frozen=True):
    """Report of every tool; a claim, since the candidate runs as the same user."""

    runs: Annotated[tuple[SanitizedRun, ...], msgspec.Meta(max_length=_MOST_TOOLS)]
