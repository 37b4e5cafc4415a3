"""OpenAI and every service with its chat protocol, hosted or local, through the official client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from kgtui.generation.providers.kit import Service, refuse_other_content, service_of
from kgtui.generation.records import (
    AnswerEnded,
    Chunk,
    CompletionRequest,
    ModelName,
    TextArrived,
)
from kgtui.generation.redaction import StreamRedactor
from sessions.candidates.generation_rows import Stop, TokenUsage

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CompletionUsage

NAME = "openai"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_URL = "https://api.openai.com/v1"

_STOPS = {"stop": Stop.COMPLETE, "length": Stop.LENGTH, "content_filter": Stop.REFUSED}


def open_provider(model: ModelName, environment: Mapping[str, str]) -> OpenAIProvider:
    """A provider for this model; its base URL is that of the model, else OPENAI_BASE_URL.

    Raises:
        UsageError: the key is not set, or the client is not installed.
    """
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise UsageError("the client of openai is not installed: pip install 'kgtui[models]'") from error
    service = service_of(
        NAME, model, environment, variable=KEY_VARIABLE, url_variable=URL_VARIABLE, default_url=DEFAULT_URL
    )
    client = AsyncOpenAI(api_key=service.key, base_url=service.base_url, max_retries=0)
    return OpenAIProvider(client, service=service)


class OpenAIProvider:
    """One client; retries are ours, so the client makes none."""

    def __init__(self, client: AsyncOpenAI, *, service: Service) -> None:
        self._client = client
        self._service = service

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """The answer; of its tool calls only that there are some."""
        import openai

        redactor = StreamRedactor(self._service.key)
        stop: Stop | None = None
        usage: TokenUsage | None = None
        calls_tool = False
        errors = self._service.errors_in_our_words(status_error=openai.APIStatusError, client_error=openai.APIError)
        with errors as exchange:
            async with await self._create(request) as answer:
                refuse_other_content(answer.response.headers.get("content-type", ""), provider=NAME)
                exchange.is_accepted = True
                async for event in answer:
                    exchange.is_open = True
                    if event.usage is not None:
                        usage = _usage(event.usage)
                    for choice in event.choices:
                        calls_tool = calls_tool or bool(choice.delta and choice.delta.tool_calls)
                        if text := redactor.take(choice.delta.content or "" if choice.delta else ""):
                            yield TextArrived(text=text)
                        if choice.finish_reason:
                            stop = _STOPS.get(choice.finish_reason, Stop.COMPLETE)
                    if redactor.is_too_long:
                        stop = Stop.LENGTH
                        break
        if rest := redactor.rest():
            yield TextArrived(text=rest)
        yield AnswerEnded(stop=stop or Stop.CUT, usage=usage, calls_tool=calls_tool)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def _create(self, request: CompletionRequest) -> Any:  # Any: the client's stream has no public base type
        sampling = request.sampling
        optional = {
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            "reasoning_effort": sampling.effort,
        }
        return await self._client.chat.completions.create(
            model=request.model,
            messages=[{"role": message.role.value, "content": message.text} for message in request.messages],
            max_completion_tokens=sampling.max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            timeout=sampling.timeout_s,
            extra_headers={"Idempotency-Key": request.key},
            **{name: value for name, value in optional.items() if value is not None},  # type: ignore[call-overload]  # its overloads know no optional arguments
        )


def _usage(usage: CompletionUsage) -> TokenUsage | None:
    """The counts of the provider; None if they contradict each other."""
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    try:
        return TokenUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cached_tokens=(prompt.cached_tokens if prompt else 0) or 0,
            reasoning_tokens=(completion.reasoning_tokens if completion else 0) or 0,
        )
    except (TypeError, ValueError):
        return None
