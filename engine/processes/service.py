"""The child's end of the wire: read a command, carry it out, write the reply, until the pipe closes."""

from __future__ import annotations

import os
from collections.abc import Callable

from engine import wire


class Line:
    """Two pipes that carry one JSON object a line."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands = os.fdopen(commands, "rb")
        self._replies = replies

    def reply(self, message: wire.AnyReply) -> None:
        """Send one reply, whole."""
        rest = memoryview(wire.encode(message))
        while rest:
            rest = rest[os.write(self._replies, rest) :]

    def serve(self, carry_out: Callable[[wire.AnyCommand], wire.AnyReply]) -> None:
        """Answer every command with what `carry_out` returns for it."""
        while line := self._commands.readline(wire.MAX_LINE_BYTES):
            self.reply(carry_out(wire.decode_command(line)))
