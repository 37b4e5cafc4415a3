"""Retries a request after a temporary refusal: 429, 5xx, no connection.  Honours retry-after.

An answer that has begun is never requested again, since it is charged.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING

from kgtui.generation.providers import Provider
from kgtui.generation.records import Chunk, CompletionRequest, ProviderError
from sessions.candidates.generation_rows import Attempt

if TYPE_CHECKING:
    from tenacity import RetryCallState

MOST_ATTEMPTS = 6
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_LONGEST_RETRY_AFTER_S = 600.0

Sleep = Callable[[float], Awaitable[None]]


async def stream_with_retries(
    provider: Provider,
    request: CompletionRequest,
    *,
    attempted: Callable[[Attempt], Awaitable[None]],
    sleep: Sleep = asyncio.sleep,
    spread: Callable[[], float] = random.random,
) -> AsyncGenerator[Chunk, None]:
    """The answer; `attempted` is awaited after each refusal, with the time until the next attempt.

    Raises:
        ProviderError: the last attempt was refused, or the answer broke off.
    """
    from tenacity import AsyncRetrying, RetryError, retry_if_exception, stop_after_attempt

    async def before_sleep(state: RetryCallState) -> None:
        error = _error_of(state)
        await attempted(
            Attempt(
                number=state.attempt_number,
                status=error.status,
                message=str(error),
                waited_s=state.next_action.sleep if state.next_action else 0.0,
            )
        )

    answer: AsyncGenerator[Chunk, None] | None = None
    first: Chunk | None = None
    number = 0
    try:
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(MOST_ATTEMPTS),
            retry=retry_if_exception(_may_pass),
            wait=lambda state: wait_seconds(_error_of(state), attempt=state.attempt_number, spread=spread()),
            before_sleep=before_sleep,
            sleep=sleep,
            reraise=True,
        ):
            with attempt:
                number = attempt.retry_state.attempt_number
                answer = provider.stream(request)
                first = await anext(answer)
        assert answer is not None and first is not None
        await attempted(Attempt(number=number, status=200, message=""))
        yield first
        async for chunk in answer:
            yield chunk
    except RetryError as error:
        raise ProviderError(str(error)) from error
    except ProviderError as error:
        if first is None:
            await attempted(Attempt(number=number, status=error.status, message=str(error)))
        raise
    finally:
        if answer is not None:
            await answer.aclose()


def wait_seconds(error: ProviderError, *, attempt: int, spread: float) -> float:
    """The wait that the provider requires; else exponential backoff, half of it scaled by `spread` from 0 to 1."""
    if error.retry_after_s is not None:
        return min(error.retry_after_s, _LONGEST_RETRY_AFTER_S)
    longest = min(_FIRST_WAIT_S * 2.0 ** (attempt - 1), _LONGEST_WAIT_S)
    return longest * (0.5 + spread / 2)


def _may_pass(error: BaseException) -> bool:
    if not isinstance(error, ProviderError) or not error.retries:
        return False
    return error.retry_after_s is None or error.retry_after_s <= _LONGEST_RETRY_AFTER_S


def _error_of(state: RetryCallState) -> ProviderError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, ProviderError), "only such an error is retried"
    return error
