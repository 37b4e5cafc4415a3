"""Beginning a batch in the store."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from engine.devices import first_device
from engine.errors import UsageError
from kgtui.generation.carrying_out import GenerationOrder, GenerationServices, carry_out
from kgtui.generation.prices import PriceList
from kgtui.generation.prompts import Prompts
from sessions.candidates.generation_rows import Limits
from tests.kgtui.generation.conftest import REQUEST


class _EmptyStore:
    """A store without batches, which records the threads of its calls."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.generations = self

    def session(self) -> int:
        self.threads.append(threading.current_thread())
        return 1

    def unfinished_batch(self, request: str) -> None:
        self.threads.append(threading.current_thread())


async def test_store_is_not_asked_on_the_event_loop() -> None:
    store = _EmptyStore()
    order = GenerationOrder(
        request=replace(REQUEST, models=()), tasks=(), limits=Limits(), device=first_device("cpu"), concurrency=1,
        resume=True,
    )  # fmt: skip
    services = GenerationServices(
        recording=store, submit=None, drop=None, prices=PriceList({}), prompts=Prompts(), environment={}, trouble=None,
        on_generation_event=None, clock=None, now=None,
    )  # fmt: skip
    with pytest.raises(UsageError, match="no unfinished batch has these arguments"):
        await carry_out(order, services)
    assert [thread is threading.current_thread() for thread in store.threads] == [False, False]
