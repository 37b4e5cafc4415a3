"""What an agent prints: bounded, in whole lines, and without its keys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgtui.generation.redaction import redacted

MOST_BYTES = 1_000_000
"""An agent that prints more is ended."""
MOST_SHOWN_CHARACTERS = 50_000
"""Of its answer; a kernel file of 300,000 bytes is still taken from an answer with as much before it."""

_LEFT_OUT = f"\n(output after {MOST_SHOWN_CHARACTERS:,} characters left out)\n"
_TAG = re.compile(r"<(?=/?(?:think|reasoning))", re.IGNORECASE)


class AgentOutput:
    """Output in the order in which it arrives; no key, character or code fence is divided between two pieces.

    `text` is all of it so far, for the token report of the agent.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self.text = ""
        self._secrets = secrets
        self._bytes = 0
        self._begun_line = b""
        self._characters = 0

    @property
    def is_too_long(self) -> bool:
        """Whether the agent printed more than it may."""
        return self._bytes > MOST_BYTES

    def take(self, data: bytes) -> str:
        """The lines that these bytes complete, as part of the answer; "" where none is to be shown."""
        self._bytes += len(data)
        lines, newline, self._begun_line = (self._begun_line + data).rpartition(b"\n")
        return self._shown_part(lines + newline)

    def rest(self) -> str:
        """The last line, where it has no end."""
        line, self._begun_line = self._begun_line, b""
        return self._shown_part(line)

    def without_secrets(self, text: str) -> str:
        """The text without keys of the agent."""
        for secret in self._secrets:
            text = redacted(text, secret)
        return text

    def _shown_part(self, data: bytes) -> str:
        text = self.without_secrets(data.decode("utf-8", errors="replace"))
        self.text += text
        before, self._characters = self._characters, self._characters + len(text)
        if before > MOST_SHOWN_CHARACTERS:
            return ""
        shown = _quoted(text[: MOST_SHOWN_CHARACTERS - before])
        return shown if self._characters <= MOST_SHOWN_CHARACTERS else shown + _LEFT_OUT


def _quoted(text: str) -> str:
    """Output without code fences and tags of reasoning: only the file that is left behind is the answer."""
    return _TAG.sub("[", text.replace("```", "'''").replace("~~~", "'''"))
