"""The child's command loop: read a command, carry it out, write the reply, until the pipe closes."""

from __future__ import annotations

import os
from collections.abc import Callable

from engine import protocol
from engine.errors import WireError


class MessagePipes:
    """Two pipes with one JSON object a line."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands = os.fdopen(commands, "rb")
        self._replies = replies

    def reply(self, message: protocol.AnyReply) -> None:
        """Send one reply as a whole; a Failed in place of one that the parent would not accept."""
        rest = memoryview(_line_of(message))
        while rest:
            rest = rest[os.write(self._replies, rest) :]

    def serve(self, carry_out: Callable[[protocol.AnyCommand], protocol.AnyReply]) -> None:
        """Reply to every command with the result of `carry_out`, and to an invalid line with a Failed."""
        # Unlimited: commands come from the parent, and may be longer than any reply.
        while (line := self._commands.readline()).endswith(b"\n"):
            try:
                command = protocol.decode_command(line)
            except WireError as error:
                failed = protocol.Failed(id=protocol.id_of(line), kind=protocol.FailureKind.ENGINE, message=str(error))
                self.reply(failed)
                continue
            self.reply(carry_out(command))


def _line_of(message: protocol.AnyReply) -> bytes:
    """The line of a reply within the size limit; type names of a candidate are unbounded in length and number."""
    try:
        line = protocol.encode(message)
        protocol.decode_reply(line)
        if len(line) > protocol.MAX_LINE_BYTES:
            raise WireError(f"{len(line)} bytes, more than the {protocol.MAX_LINE_BYTES} of a line")
    except (WireError, UnicodeEncodeError, OverflowError) as error:
        kind = message.kind if isinstance(message, protocol.Failed) else protocol.FailureKind.RAISED
        text = f"the result does not fit into a reply: {error}"
        return protocol.encode(protocol.Failed(id=message.id, kind=kind, message=text))
    return line
