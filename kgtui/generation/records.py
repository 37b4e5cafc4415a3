"""A request to a language model and the events of its answer: pure records."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from engine.errors import KgtuiError, UsageError
from sessions.candidates.generation_rows import Stop, TokenUsage

DEFAULT_MAX_TOKENS = 16_000
DEFAULT_TIMEOUT_S = 600.0
_MOST_TEMPERATURE = 2.0


class Role(enum.StrEnum):
    """The speaker of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Effort(enum.StrEnum):
    """Amount of reasoning before an answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, kw_only=True)
class ModelName:
    """A model of a provider, typed as `PROVIDER:MODEL` or `PROVIDER:MODEL@BASE_URL`."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Sampling parameters; None uses the provider's default."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    temperature: float | None = None
    seed: int | None = None
    effort: Effort | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise UsageError(f"--max-tokens must be at least 1, got {self.max_tokens}")
        if self.temperature is not None and not 0 <= self.temperature <= _MOST_TEMPERATURE:
            raise UsageError(f"--temperature must be from 0 to {_MOST_TEMPERATURE:g}, got {self.temperature:g}")


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """Messages to be answered; `key` is the same for every attempt, so that a service can detect a repetition.

    The key is sent as a header, so it is ASCII.
    """

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    key: str

    @property
    def prompt_bytes(self) -> int:
        """UTF-8 bytes of all messages.  An upper bound of their tokens, each of which has at least one byte."""
        return sum(len(message.text.encode()) for message in self.messages)


@dataclass(frozen=True, kw_only=True)
class TextArrived:
    """The next piece of an answer."""

    text: str


@dataclass(frozen=True, kw_only=True)
class FileSaved:
    """An agent saved its file, and is still working."""

    source: bytes


@dataclass(frozen=True, kw_only=True)
class AnswerEnded:
    """The end of an answer; `usage` is None where the provider did not report it.

    `reported_microusd` is the cost as an agent reports it; it counts where the list of prices has none.  `failure` is
    why the answer was lost after it was charged, such as a full disk; a resumed batch requests it again.  `calls_tool`
    says that the answer calls a tool, none of which is offered.
    """

    stop: Stop
    usage: TokenUsage | None
    reported_microusd: int | None = None
    failure: str = ""
    calls_tool: bool = False


Chunk: TypeAlias = TextArrived | FileSaved | AnswerEnded


class ProviderError(KgtuiError):
    """A provider did not answer.

    `status` is the HTTP status, None without a response.  `retries` says that the same request may succeed later, after
    `retry_after_s` if the provider states a time.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retries: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retries = retries
        self.retry_after_s = retry_after_s


class ConnectionCutError(ProviderError):
    """The answer began and broke off: it is charged, so it is not requested again."""


def parse_model(text: str) -> ModelName:
    """Parse a model typed by the user.

    Raises:
        UsageError: it does not name a provider and a model.
    """
    provider, colon, rest = text.partition(":")
    model, _, base_url = rest.partition("@")
    if not colon or not provider or not model:
        raise UsageError(f"expected PROVIDER:MODEL, got {text[:80]!r}; for example anthropic:MODEL or openai:MODEL@URL")
    if not text.isprintable():
        raise UsageError(f"the name of a model cannot hold control characters: {text[:80]!r}")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"the base URL of {text[:80]!r} must begin with http:// or https://")
    return ModelName(provider=provider, model=model, base_url=base_url or None)
