"""Sends one prompt and stores the answer, so that none is paid for twice or lost.

A request is stored with its highest possible cost before it is sent, and settled once.  A position with a stored answer
gets that one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

import msgspec

from engine.errors import StoreError
from engine.reports.run_record import RunRecord
from kgtui.generation.budget import Amount, Budget
from kgtui.generation.events import AnswerGrew, AnswerStored, GenerationEvent, RequestRefused, RequestSent, Spot
from kgtui.generation.extraction import extract
from kgtui.generation.prices import PriceList
from kgtui.generation.providers import Provider
from kgtui.generation.records import (
    AnswerEnded,
    CompletionRequest,
    ConnectionCutError,
    FileSaved,
    Message,
    ModelName,
    ProviderError,
    Sampling,
    TextArrived,
)
from kgtui.generation.retrying import Sleep, stream_with_retries
from sessions.candidates.generation_rows import Attempt, GenerationRow, NewGeneration, Settlement, Stop
from sessions.candidates.generations import GenerationStore

_TEMPLATE_TOKENS = 200
"""Upper bound of the tokens that providers add to a prompt for roles and separators."""


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Clocks as arguments: wall-clock time for prices, and monotonic seconds; `sleep` waits between attempts."""

    now: Callable[[], datetime]
    clock: Callable[[], float]
    sleep: Sleep = asyncio.sleep


@dataclass(frozen=True, kw_only=True)
class StoredBatch:
    """One batch in the store: its rows, and access to their candidates and runs."""

    generations: GenerationStore
    session: int
    number: int
    source: Callable[[str], bytes]
    run: Callable[[int], RunRecord]


class Requester:
    """Sends the requests of one batch; used on one event loop."""

    def __init__(
        self,
        stored: StoredBatch,
        *,
        provider_of: Callable[[ModelName], Provider],
        prices: PriceList,
        budget: Budget,
        sampling: Sampling,
        concurrency: int,
        clocks: Clocks,
        emit: Callable[[GenerationEvent], None],
    ) -> None:
        self.budget = budget
        self._store = stored.generations
        self._session = stored.session
        self._batch = stored.number
        self._provider_of = provider_of
        self._prices = prices
        self._sampling = sampling
        self._free = asyncio.Semaphore(concurrency)
        self._clocks = clocks
        self._emit = emit

    async def ask(
        self,
        model: ModelName,
        spot: Spot,
        messages: Sequence[Message],
        *,
        entry: str,
        saved: Callable[[int, bytes], None] = lambda generation, source: None,
    ) -> GenerationRow:
        """The stored answer to these messages at this place; the source in it defines `entry`.

        `saved` gets the number of the stored request and what an agent saves while it works.

        Raises:
            ProviderError: the provider refused, which cost nothing.
            BudgetReachedError: the answer could exceed the budget.
            StoreError: it could not be stored.
        """
        request = CompletionRequest(
            model=model.model,
            messages=tuple(messages),
            sampling=self._sampling,
            key=quote(f"kgtui/{self._batch}/{spot.problem}/{spot.model}/{spot.place}", safe="/:"),
        )
        worst = self._worst(model, request)
        new = NewGeneration(
            problem=spot.problem,
            provider=model.provider,
            model=model.model,
            place=spot.place,
            sent=msgspec.json.encode(messages).decode(),
            reserved_microusd=worst.microusd,
            reserved_tokens=worst.tokens,
        )
        if (stored := await asyncio.to_thread(self._store.at_place, self._batch, new)) is not None:
            self._emit(AnswerStored(spot=spot, row=stored, spent=self.budget.spent, is_reused=True))
            return stored
        async with self._free:
            await self.budget.reserve(worst)
            exchange: _Exchange | None = None
            try:
                number = await asyncio.to_thread(self._store.reserve, self._session, self._batch, new)
                exchange = _Exchange(
                    number=number, spot=spot, charged=replace(worst, microusd=None), began_s=self._clocks.clock(),
                    saved=saved,
                )  # fmt: skip
                self._emit(RequestSent(spot=spot))
                await self._receive(model, request, exchange, entry=entry)
            finally:
                # In every case: a reservation that stayed would keep other requests waiting for its end.
                await self.budget.settle(worst, None if exchange is None else exchange.charged)
        await self.note_time()
        row = await asyncio.to_thread(self._store.at_place, self._batch, new)
        assert row is not None, "it was settled just now"
        self._emit(AnswerStored(spot=spot, row=row, spent=self.budget.spent))
        return row

    async def note_time(self) -> None:
        """Store the time of the batch so far, which counts against its budget after a resume."""
        await asyncio.to_thread(self._store.note_worked, self._batch, self.budget.elapsed_s)

    async def _receive(self, model: ModelName, request: CompletionRequest, exchange: _Exchange, *, entry: str) -> None:
        """Stream the answer and settle it, however it ends.

        Raises:
            ProviderError: the provider refused, or the answer is lost.
        """

        async def attempted(attempt: Attempt) -> None:
            with contextlib.suppress(StoreError):  # an answer that has begun is charged, so it is received all the same
                await asyncio.to_thread(self._store.add_attempt, exchange.number, attempt)
            if attempt.waited_s:
                refused = RequestRefused(spot=exchange.spot, message=attempt.message, waited_s=attempt.waited_s)
                self._emit(refused)

        end = AnswerEnded(stop=Stop.CUT, usage=None)
        chunks = stream_with_retries(self._provider_of(model), request, attempted=attempted, sleep=self._clocks.sleep)
        try:
            async with contextlib.aclosing(chunks):
                async for chunk in chunks:
                    if isinstance(chunk, TextArrived):
                        exchange.text += chunk.text
                        self._emit(AnswerGrew(spot=exchange.spot, text=chunk.text))
                    elif isinstance(chunk, FileSaved):
                        exchange.saved(exchange.number, chunk.source)
                    else:
                        end = chunk
        except ConnectionCutError:
            end = AnswerEnded(stop=Stop.CUT, usage=None)
        except ProviderError as error:
            exchange.charged = None
            self._store.fail(exchange.number, str(error))
            raise
        except asyncio.CancelledError:
            # Not in a thread: a cancelled task must not wait, and a sent request may be charged.
            self._settle(model, exchange, end=AnswerEnded(stop=Stop.CANCELLED, usage=None), entry=entry)
            raise
        self._settle(model, exchange, end=end, entry=entry)
        if end.failure:
            raise ProviderError(end.failure)

    def _settle(self, model: ModelName, exchange: _Exchange, *, end: AnswerEnded, entry: str) -> None:
        """Store the answer and its cost; a failed one as lost, so that it is requested again."""
        found = extract(exchange.text, entry=entry, stop=end.stop, calls_tool=end.calls_tool)
        cost, charged = self._cost(model, end), exchange.charged
        if charged is not None:
            tokens = charged.tokens if end.usage is None else end.usage.total_tokens
            exchange.charged = Amount(microusd=cost, tokens=tokens)
        settlement = Settlement(
            received=exchange.text,
            stop=Stop.CANCELLED if end.failure else end.stop,
            usage=end.usage,
            cost_microusd=cost,
            source=None if found.source is None or end.failure else found.source.encode(),
            extraction=end.failure or found.reason,
            elapsed_s=self._clocks.clock() - exchange.began_s,
        )
        self._store.settle(exchange.number, settlement)

    def _cost(self, model: ModelName, end: AnswerEnded) -> int | None:
        """By the list of prices, else as reported; None where neither is known."""
        if end.usage is None:
            return end.reported_microusd
        cost = self._prices.cost(model.provider, model.model, end.usage, at=self._clocks.now())
        return end.reported_microusd if cost is None else cost

    def _worst(self, model: ModelName, request: CompletionRequest) -> Amount:
        """Highest possible cost of a request: a token for each byte of the prompt, and the maximum of the answer."""
        input_tokens, output_tokens = request.prompt_bytes + _TEMPLATE_TOKENS, request.sampling.max_tokens
        price = self._prices.price(model.provider, model.model, at=self._clocks.now())
        microusd = (
            None if price is None else price.most_microusd(input_tokens=input_tokens, output_tokens=output_tokens)
        )
        return Amount(microusd=microusd, tokens=input_tokens + output_tokens)


@dataclass(kw_only=True)
class _Exchange:
    """A request in flight and the text of its answer so far; `charged` is the highest cost while it is unknown."""

    number: int
    spot: Spot
    charged: Amount | None
    began_s: float
    saved: Callable[[int, bytes], None]
    text: str = ""
