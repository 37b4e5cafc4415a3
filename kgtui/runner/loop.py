"""The loop from a save to its verdict, without a screen.

One run at a time, always of the newest content: a new order stops the run that goes on, and orders
that were overtaken while waiting are never judged.  An event is in the store before anybody sees
it.  Trouble with the store never stops a run; it is said, and the run goes on unrecorded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence

from engine.errors import KgtuiError, StoreError
from engine.model import CaseResult, Outcome, Plan, Verdict
from engine.model.events import CaseFinished, Event, PortingFinished, RunFinished, RunStarted
from engine.static.source import imported_files
from kgtui.ports.protocols import (
    Audience,
    GridOrder,
    Judging,
    Order,
    PortOrder,
    Recording,
    RunHeader,
)
from kgtui.state.run.suspects import suspects

# An engine with thousands of events ready never suspends by itself; the screen must get its turn in between.
_TURN_S = 0.01
# Kept and drawn at a time: enough to be quick, few enough that keys are answered in between.
_MOST_EVENTS = 500


class Loop:
    """Judges orders one after the other; `serve` runs until it is cancelled."""

    def __init__(
        self,
        judging: Judging,
        *,
        audience: Audience,
        clock: Callable[[], float],
        recording: Recording | None = None,
    ) -> None:
        self.recording = recording
        self._judging = judging
        self._audience = audience
        self._clock = clock
        self._waiting: Order | PortOrder | GridOrder | None = None
        self._current: Order | PortOrder | GridOrder | None = None
        self._arrived = asyncio.Event()
        self._cancelled: asyncio.Event | None = None
        self._failed_cases: dict[str, tuple[str, ...]] = {}

    @property
    def busy(self) -> bool:
        """Whether a run goes on or waits."""
        return self._cancelled is not None or self._waiting is not None

    def submit(self, order: Order | PortOrder | GridOrder) -> None:
        """Judge this next, one or many, or compile it for other targets; whatever runs or waits is overtaken."""
        self._forget_waiting()
        self._waiting = order
        self._arrived.set()
        self._stop_current()

    def cancel(self) -> bool:
        """Stop the run that goes on and forget the one that waits; False when there is neither."""
        was_busy = self.busy
        self._forget_waiting()
        self._stop_current()
        return was_busy

    def drop(self, grid: GridOrder) -> None:
        """Judge no more of this one; whatever else was asked for stays."""
        if self._waiting is grid:
            self._forget_waiting()
        elif self._current is grid:
            self._stop_current()

    async def answer(self, order: Order) -> bool:
        """Show the stored run that answers this order, which needs no engine; False when there is none."""
        return await self._answered(order, self._audience)

    async def serve(self) -> None:
        """Judge orders as they come, for ever."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            if self._waiting is None:
                continue
            order, self._waiting, self._cancelled = self._waiting, None, asyncio.Event()
            self._current = order
            try:
                if isinstance(order, PortOrder):
                    await self._port(order, self._cancelled)
                elif isinstance(order, GridOrder):
                    await self._judge_all(order, self._cancelled)
                else:
                    await self._judge(order, self._cancelled, self._audience)
            finally:
                self._cancelled = self._current = None

    def _forget_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if isinstance(waiting, GridOrder):
            waiting.ended()

    def _stop_current(self) -> None:
        if self._cancelled is not None:
            self._cancelled.set()

    async def _judge_all(self, grid: GridOrder, cancelled: asyncio.Event) -> None:
        for place, order in enumerate(grid.orders):
            if not cancelled.is_set():
                # Set at the verdict, too: what follows is machine code, for which the next order would wait.
                over = asyncio.Event()
                passing_on = asyncio.create_task(_pass_on(cancelled, over))
                try:
                    await self._judge(order, over, grid.told(place), stops_at_verdict=True)
                finally:
                    passing_on.cancel()
        grid.ended()

    async def _judge(
        self, order: Order, cancelled: asyncio.Event, audience: Audience, *, stops_at_verdict: bool = False
    ) -> None:
        if await self._answered(order, audience):
            return
        plan = order.plan(await self._failed_before(order))
        number = await self._begin(order)
        header = RunHeader(number=number, cached=False, digest=order.candidate.digest, picked=bool(order.cases))
        audience.run_began(header)
        failed: list[str] = []

        def heed(batch: Sequence[Event]) -> None:
            failed.extend(result.case for result in _failed_in(batch))
            if any(map(_says_of_the_candidate, batch)):
                known = self._failed_cases.get(order.problem.name, ()) if order.cases else ()
                others = tuple(name for name in known if name not in order.cases)
                self._failed_cases[order.problem.name] = (*others, *failed)
            if stops_at_verdict and any(isinstance(event, RunFinished) for event in batch):
                cancelled.set()

        await self._tell(self._events(order, plan, cancelled), number, audience, heed=heed, source=order.content)

    async def _port(self, order: PortOrder, cancelled: asyncio.Event) -> None:
        await self._tell(self._port_events(order, cancelled), order.number, self._audience)

    async def _tell(
        self,
        events: AsyncGenerator[Event, None],
        number: int | None,
        audience: Audience,
        *,
        heed: Callable[[Sequence[Event]], None] = lambda batch: None,
        source: bytes = b"",
    ) -> None:
        """Record the events in batches, and tell each to the audience before the next."""
        inbox = _Inbox()
        reading = asyncio.create_task(self._read(events, inbox))
        try:
            while batch := await inbox.take():
                number = await self._record(number, batch)
                await _read_ahead(batch, source)
                audience.events_happened(batch)
                heed(batch)
            await reading
        finally:
            await _end(reading)
            # One that is left to the garbage is closed at an unknown time, beside the one that it reads.
            await events.aclose()

    async def _read(self, events: AsyncGenerator[Event, None], inbox: _Inbox) -> None:
        """Take the engine's events as they come, so that a slow store never holds up the judge."""
        last_turn = self._clock()
        try:
            async for event in events:
                inbox.put(event)
                if self._clock() - last_turn > _TURN_S:
                    await asyncio.sleep(0)
                    last_turn = self._clock()
        finally:
            inbox.close()

    async def _events(self, order: Order, plan: Plan, cancelled: asyncio.Event) -> AsyncGenerator[Event, None]:
        """The engine's events, closed with a verdict of ours when the engine fails to give one."""
        candidate, other = order.candidate, order.against
        last: Event | None = None
        finished = False
        complaint = "the engine ended the run without a verdict; r runs it again"
        try:
            # To its end, past the verdict too: the engine cleans up behind it.
            if other is None:
                judging = self._judging.evaluate(candidate, plan, cancelled=cancelled)
            else:
                judging = self._judging.compare(candidate, other, plan, cancelled=cancelled)
            async with contextlib.aclosing(judging):
                async for event in judging:
                    last, finished = event, finished or isinstance(event, RunFinished)
                    yield event
        except KgtuiError as error:
            complaint = str(error)
        except Exception as error:  # the edge: a fault of the engine must not take the screen with it
            complaint = f"the engine failed: {type(error).__name__}: {error}; r runs it again"
        if finished:
            return
        if last is None:
            yield RunStarted(
                at_s=0.0,
                problem=plan.problem.name,
                digest=candidate.digest,
                device=plan.device,
                device_name=self._judging.device_name,
                target=plan.target,
                cases=len(plan.cases),
            )
        verdict = Verdict(outcome=Outcome.ENGINE_ERROR, sentence=complaint, passed=0, total=len(plan.cases))
        yield RunFinished(at_s=last.at_s if last else 0.0, verdict=verdict)

    async def _port_events(self, order: PortOrder, cancelled: asyncio.Event) -> AsyncGenerator[Event, None]:
        """The engine's events, closed by us when the engine fails to close them."""
        last_s, message = order.after_s, "the engine ended before everything was compiled; r begins again"
        porting = self._judging.port(
            order.candidate,
            entry=order.entry,
            launches=order.launches,
            targets=order.targets,
            after_s=order.after_s,
            cancelled=cancelled,
        )
        try:
            async with contextlib.aclosing(porting):
                async for event in porting:
                    last_s = event.at_s
                    yield event
                    if isinstance(event, PortingFinished):
                        message = ""
        except KgtuiError as error:
            message = str(error)
        except Exception as error:  # the edge: a fault of the engine must not take the screen with it
            message = f"the engine failed: {type(error).__name__}: {error}; r begins again"
        if message:
            yield PortingFinished(at_s=last_s, outcome=Outcome.ENGINE_ERROR, message=message)

    async def _failed_before(self, order: Order) -> tuple[str, ...]:
        if order.problem.name in self._failed_cases or self.recording is None:
            return self._failed_cases.get(order.problem.name, ())
        try:
            return await asyncio.to_thread(self.recording.failed_cases, order)
        except StoreError as error:
            self._audience.trouble_arose(str(error))
            return ()

    async def _answered(self, order: Order, audience: Audience) -> bool:
        """Show the stored run that answers this very order; False when there is none, or a new run is wanted."""
        if order.again or order.cases:
            return False
        folder = order.candidate.folder
        if self.recording is None:
            return False
        siblings = await asyncio.to_thread(imported_files, order.candidate.source, folder) if folder else ()
        if siblings:
            return False  # what it imports may have changed since, and the hash is of the one file
        try:
            number = await asyncio.to_thread(self.recording.cached, order)
            if number is None:
                return False
            events = await asyncio.to_thread(self.recording.events, number)
        except StoreError as error:
            self._audience.trouble_arose(str(error))
            return False
        try:
            await asyncio.to_thread(self.recording.answered, number)
        except StoreError as error:
            self._audience.trouble_arose(str(error))  # the answer holds all the same
        await _read_ahead(events, order.content)
        audience.run_began(RunHeader(number=number, cached=True, digest=order.candidate.digest))
        audience.events_happened(events)
        return True

    async def _begin(self, order: Order) -> int | None:
        if self.recording is None:
            return None
        try:
            return await asyncio.to_thread(self.recording.begin, order)
        except StoreError as error:
            self._audience.trouble_arose(f"this run is not kept: {error}")
            return None

    async def _record(self, number: int | None, events: Sequence[Event]) -> int | None:
        """Keep the events; after a failure the rest of the run is not kept, and that is said once."""
        if number is None or self.recording is None:
            return None
        try:
            await asyncio.to_thread(self.recording.record, number, events)
        except StoreError as error:
            self._audience.trouble_arose(f"the rest of this run is not kept: {error}")
            return None
        return number


class _Inbox:
    """Events on their way from the engine to the store, taken out in batches."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._changed.set()

    def close(self) -> None:
        self._closed = True
        self._changed.set()

    async def take(self) -> tuple[Event, ...]:
        """What has arrived, once there is any; empty after the last."""
        while not self._events and not self._closed:
            self._changed.clear()
            await self._changed.wait()
        batch, self._events = tuple(self._events[:_MOST_EVENTS]), self._events[_MOST_EVENTS:]
        return batch


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel it and wait until it is over, also when we are cancelled once more meanwhile."""
    task.cancel()
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task])


async def _pass_on(stopped: asyncio.Event, over: asyncio.Event) -> None:
    await stopped.wait()
    over.set()


def _failed_in(events: Sequence[Event]) -> list[CaseResult]:
    results = (event.result for event in events if isinstance(event, CaseFinished))
    return [result for result in results if result.outcome is not Outcome.PASS]


async def _read_ahead(events: Sequence[Event], source: bytes) -> None:
    """Have the lines found that failed cases point to, which are kept: the screen would wait for a long text."""
    if failed := _failed_in(events):
        await asyncio.to_thread(lambda: [suspects(result, source) for result in failed])


def _says_of_the_candidate(event: Event) -> bool:
    """Whether this is a verdict that the candidate earned, so that its failed cases go first next time."""
    ours = (Outcome.CANCELLED, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED)
    return isinstance(event, RunFinished) and event.verdict.outcome not in ours
