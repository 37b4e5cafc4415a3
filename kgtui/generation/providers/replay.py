"""Recorded exchanges, answered in order, for tests and the demo.  No network, no key.

The recording is a JSON file that KGTUI_REPLAY names; `kgtui demo` has one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from engine.errors import UsageError
from kgtui.generation.records import AnswerEnded, Chunk, CompletionRequest, ModelName, ProviderError, TextArrived
from sessions.candidates.generation_rows import Stop, TokenUsage

NAME = "replay"
KEY_VARIABLE = ""
FILE_VARIABLE = "KGTUI_REPLAY"

_PIECE = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """One recorded answer of `model` to a prompt that contains `prompt`, at position `place`.

    Its text is `answer`, or that of the file `file` beside the recording.
    """

    model: str
    prompt: str
    place: str
    answer: str = ""
    file: str = ""
    input_tokens: int
    output_tokens: int
    stop: Stop = Stop.COMPLETE


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A file of exchanges; `pause_s` is waited after each word, so that a streaming answer can be seen."""

    exchanges: tuple[RecordedAnswer, ...]
    pause_s: float = 0.0


def read_recording(path: Path) -> Recording:
    """The recording in a file.

    Raises:
        UsageError: it is not a valid recording.
    """
    try:
        recording = msgspec.json.decode(path.read_bytes(), type=Recording)
        return Recording(
            exchanges=tuple(_with_text(exchange, path.parent) for exchange in recording.exchanges),
            pause_s=recording.pause_s,
        )
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{path} is not a recording of exchanges: {error}; {FILE_VARIABLE} names the file") from error


def _with_text(exchange: RecordedAnswer, folder: Path) -> RecordedAnswer:
    if not exchange.file:
        return exchange
    return replace(exchange, answer=(folder / exchange.file).read_text(encoding="utf-8"))


def open_provider(model: ModelName, environment: Mapping[str, str]) -> ReplayProvider:
    """A provider for the recording that KGTUI_REPLAY names.

    Raises:
        UsageError: none is named, or it cannot be read.
    """
    path = environment.get(FILE_VARIABLE)
    if not path:
        raise UsageError(f"{FILE_VARIABLE} is not set: it names the file with recorded exchanges")
    return ReplayProvider(read_recording(Path(path)))


class ReplayProvider:
    """Answers from a recording."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """The recorded answer, word by word."""
        exchange = self._found(request)
        for piece in _PIECE.findall(exchange.answer):
            await asyncio.sleep(self._recording.pause_s)
            yield TextArrived(text=piece)
        usage = TokenUsage(input_tokens=exchange.input_tokens, output_tokens=exchange.output_tokens)
        yield AnswerEnded(stop=exchange.stop, usage=usage)

    async def aclose(self) -> None:
        """No operation: nothing is open."""

    def _found(self, request: CompletionRequest) -> RecordedAnswer:
        sent = "\n".join(message.text for message in request.messages)
        place = request.key.rpartition("/")[2]
        for exchange in self._recording.exchanges:
            if (exchange.model, exchange.place) == (request.model, place) and exchange.prompt in sent:
                return exchange
        raise ProviderError(
            f"the recording has no answer of {request.model} at {place}; record it, or request fewer answers"
        )
