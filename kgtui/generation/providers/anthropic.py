"""Anthropic's messages service through the official client, with the system prompt and the problem cached."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from kgtui.generation.providers.kit import Service, refuse_other_content, service_of
from kgtui.generation.records import (
    AnswerEnded,
    Chunk,
    CompletionRequest,
    Message,
    ModelName,
    Role,
    TextArrived,
)
from kgtui.generation.redaction import StreamRedactor
from sessions.candidates.generation_rows import Stop, TokenUsage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

NAME = "anthropic"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
DEFAULT_URL = "https://api.anthropic.com"

_STOPS = {"end_turn": Stop.COMPLETE, "stop_sequence": Stop.COMPLETE, "max_tokens": Stop.LENGTH, "refusal": Stop.REFUSED}
_CACHED = {"type": "ephemeral"}


def open_provider(model: ModelName, environment: Mapping[str, str]) -> AnthropicProvider:
    """A provider for this model; its base URL is that of the model, else ANTHROPIC_BASE_URL.

    Raises:
        UsageError: the key is not set, or the client is not installed.
    """
    try:
        from anthropic import AsyncAnthropic
    except ImportError as error:
        raise UsageError("the client of anthropic is not installed: pip install 'kgtui[models]'") from error
    service = service_of(
        NAME, model, environment, variable=KEY_VARIABLE, url_variable=URL_VARIABLE, default_url=DEFAULT_URL
    )
    client = AsyncAnthropic(api_key=service.key, base_url=service.base_url, max_retries=0)
    return AnthropicProvider(client, service=service)


class AnthropicProvider:
    """One client; kgtui retries, so the client does not."""

    def __init__(self, client: AsyncAnthropic, *, service: Service) -> None:
        self._client = client
        self._service = service

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """The answer without its thinking; of its tool use only that there is some."""
        import anthropic

        redactor, counts = StreamRedactor(self._service.key), _Counts()
        calls_tool = False
        errors = self._service.errors_in_our_words(
            status_error=anthropic.APIStatusError, client_error=anthropic.APIError
        )
        with errors as exchange:
            async with await self._create(request) as answer:
                refuse_other_content(answer.response.headers.get("content-type", ""), provider=NAME)
                exchange.is_accepted = True
                async for event in answer:
                    exchange.is_open = True
                    counts.take(event)
                    if event.type == "content_block_start" and event.content_block.type == "tool_use":
                        calls_tool = True
                    if event.type == "content_block_delta" and event.delta.type == "text_delta":
                        if text := redactor.take(event.delta.text):
                            yield TextArrived(text=text)
                        if redactor.is_too_long:
                            counts.stop = Stop.LENGTH
                            break
        if rest := redactor.rest():
            yield TextArrived(text=rest)
        yield AnswerEnded(stop=counts.stop or Stop.CUT, usage=counts.usage, calls_tool=calls_tool)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def _create(self, request: CompletionRequest) -> Any:  # Any: the client's stream has no public base type
        sampling = request.sampling
        optional = {
            # Version 2 of the client has no temperature; the service accepts it for models that have one.
            "extra_body": None if sampling.temperature is None else {"temperature": sampling.temperature},
            "output_config": {"effort": sampling.effort.value} if sampling.effort else None,
        }
        arguments: dict[str, Any] = {name: value for name, value in optional.items() if value is not None}
        if system := [message for message in request.messages if message.role is Role.SYSTEM]:
            arguments["system"] = [_block(message, is_last=message is system[-1]) for message in system]
        others = [message for message in request.messages if message.role is not Role.SYSTEM]
        arguments["messages"] = [
            {"role": message.role.value, "content": [_block(message, is_last=message is others[0])]}
            for message in others
        ]
        return await self._client.messages.create(
            model=request.model,
            max_tokens=sampling.max_tokens,
            stream=True,
            timeout=sampling.timeout_s,
            extra_headers={"Idempotency-Key": request.key},
            **arguments,
        )


class _Counts:
    """Usage and stop reason, which arrive in several events of one answer."""

    def __init__(self) -> None:
        self.stop: Stop | None = None
        self._input: int | None = None
        self._cached = 0
        self._written = 0
        self._output: int | None = None

    def take(self, event: Any) -> None:  # Any: one of the client's event types
        """Record this event."""
        if event.type == "message_start":
            self._note(event.message.usage)
            self._output = None  # the counts of message_start are not totals yet
        elif event.type == "message_delta":
            self._note(event.usage)
            if event.delta.stop_reason:
                self.stop = _STOPS.get(event.delta.stop_reason, Stop.COMPLETE)

    @property
    def usage(self) -> TokenUsage | None:
        """All counts; None unless input and output were reported."""
        if self._input is None or self._output is None:
            return None
        try:
            return TokenUsage(
                # Anthropic counts cached tokens separately from input tokens.
                input_tokens=self._input + self._cached + self._written,
                output_tokens=self._output,
                cached_tokens=self._cached,
                cache_write_tokens=self._written,
            )
        except (TypeError, ValueError):
            return None

    def _note(self, usage: Any) -> None:  # Any: Usage of message_start or MessageDeltaUsage
        if usage is None:
            return
        self._input = self._input if usage.input_tokens is None else usage.input_tokens
        self._cached = usage.cache_read_input_tokens or self._cached
        self._written = usage.cache_creation_input_tokens or self._written
        self._output = usage.output_tokens


def _block(message: Message, *, is_last: bool) -> dict[str, object]:
    """A block of text, cached up to its end if it is the last one that later requests repeat."""
    block: dict[str, object] = {"type": "text", "text": message.text}
    return {**block, "cache_control": _CACHED} if is_last else block
