"""The order of the run queue: batches, saves before them, cancelled and dropped requests."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.model import Outcome
from kgtui.ports.requests import Priority, RunHeader, RunRequest
from tests.kgtui import fakes
from tests.kgtui.runner.queued import Listener, Setting


async def test_save_while_busy_replaces_running_request(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"new"))
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS
    assert [candidate.source for candidate, _ in setting.engine.evaluated] == [fakes.SOURCE, b"new"]


async def test_save_overtaken_in_queue_never_runs(setting: Setting) -> None:
    for content in (b"one", b"two", b"three"):
        setting.submit(replace(setting.request, content=content))
    await setting.listener.verdict()
    assert [candidate.source for candidate, _ in setting.engine.evaluated] == [b"three"]


async def test_cancelling_ends_run_and_reports_whether_any(setting: Setting) -> None:
    assert setting.queue.cancel() is False
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    assert setting.queue.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED


async def test_cancel_before_engine_start_ends_run(setting: Setting) -> None:
    loop, begin = asyncio.get_running_loop(), setting.recording.begin

    def cancel_and_begin(request: RunRequest) -> int:
        loop.call_soon_threadsafe(setting.queue.cancel)
        return int(begin(request))

    setting.recording.begin = cancel_and_begin
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.CANCELLED


async def test_cancelled_run_does_not_answer_next_save(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    setting.queue.cancel()
    await setting.listener.verdict()
    setting.engine.script = fakes.all_pass
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS


async def test_requests_of_a_batch_run_in_their_order(setting: Setting) -> None:
    listeners = [Listener(recording=setting.recording) for _ in range(2)]
    batched = replace(setting.request, again=True, priority=Priority.BATCH)
    for content, listener in zip((b"one", b"two"), listeners, strict=True):
        setting.queue.submit(replace(batched, content=content), listener)
    assert [await listener.verdict() for listener in listeners] == [Outcome.PASS, Outcome.PASS]
    assert setting.sources == [b"one", b"two"]
    assert [[header.number for header in listener.headers] for listener in listeners] == [[1], [2]]
    assert [listener.unrecorded for listener in listeners] == [0, 0]


async def test_save_runs_before_a_waiting_batch(setting: Setting) -> None:
    setting.submit_batch(b"one", b"two")
    setting.submit(replace(setting.request, content=b"saved"))
    for _ in range(3):
        await setting.listener.verdict()
        await asyncio.sleep(0)
    assert setting.sources == [b"saved", b"one", b"two"]


async def test_save_interrupts_batch_request_which_runs_again(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"saved"))
    outcomes = [await setting.listener.verdict() for _ in range(4)]
    assert outcomes == [Outcome.CANCELLED, Outcome.PASS, Outcome.PASS, Outcome.PASS]
    assert setting.sources == [b"one", b"saved", b"one", b"two"]


async def test_dropped_interrupted_request_does_not_run_again(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    one, two = setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"saved"))
    setting.queue.drop(one)
    setting.queue.drop(two)
    assert [await setting.listener.verdict() for _ in range(2)] == [Outcome.CANCELLED, Outcome.PASS]
    assert setting.sources == [b"one", b"saved"]
    assert not setting.queue.waits


async def test_waiting_request_that_is_dropped_never_runs(setting: Setting) -> None:
    one, _ = setting.submit_batch(b"one", b"two")
    setting.queue.drop(one)
    await setting.listener.verdict()
    assert setting.sources == [b"two"]


async def test_newer_save_leaves_requests_of_other_slots(setting: Setting) -> None:
    other = replace(setting.request, path=setting.request.path.with_name("other.py"), content=b"other")
    setting.submit(other)
    setting.submit(replace(setting.request, content=b"old"))
    setting.submit(replace(setting.request, content=b"new"))
    for _ in range(2):
        await setting.listener.verdict()
    assert setting.sources == [b"other", b"new"]


async def test_cancelling_drops_the_running_and_all_waiting_requests(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    assert setting.queue.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert setting.sources == [b"one"]
    assert not setting.queue.waits


async def test_failure_of_one_request_keeps_the_queue(setting: Setting) -> None:
    class Faulty(Listener):
        def run_began(self, header: RunHeader) -> None:
            raise ZeroDivisionError("oops")

    setting.submit(setting.request, Faulty())
    setting.submit(replace(setting.request, path=setting.request.path.with_name("other.py"), content=b"other"))
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.troubles == ["internal error: ZeroDivisionError: oops; r runs it again"]
    assert setting.sources == [b"other"]
