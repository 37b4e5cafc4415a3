"""Output of an agent: limited in size, in whole lines, and without its keys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgtui.generation.redaction import redacted

MOST_BYTES = 1_000_000
"""Limit of the output; an agent that prints more is terminated."""
MOST_SHOWN_CHARACTERS = 50_000
"""Limit of the shown answer; a kernel file of 300,000 bytes fits after this much output."""

_LEFT_OUT = f"\n(output after {MOST_SHOWN_CHARACTERS:,} characters left out)\n"
_TAG = re.compile(r"<(?=/?(?:think|reasoning))", re.IGNORECASE)


class AgentOutput:
    """Output in order of arrival; no key, character or code fence is split between two pieces.
    `text` is the whole output so far, for the token report of the agent.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self.text = ""
        self._secrets = secrets
        self._bytes = 0
        self._begun_line = b""
        self._characters = 0

    @property
    def is_too_long(self) -> bool:
        """Whether the agent printed more than the limit."""
        return self._bytes > MOST_BYTES

    def take(self, data: bytes) -> str:
        """The lines that these bytes complete, as part of the answer; "" if none is to be shown."""
        self._bytes += len(data)
        lines, newline, self._begun_line = (self._begun_line + data).rpartition(b"\n")
        return self._shown_part(lines + newline)

    def rest(self) -> str:
        """The last line, if it is unterminated."""
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
    """Output without code fences and tags of reasoning: only the file that the agent leaves is the answer."""
    return _TAG.sub("[", text.replace("```", "'''").replace("~~~", "'''"))
