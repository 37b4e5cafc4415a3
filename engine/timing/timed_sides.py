"""Interface of the sides of a comparison, and the judge's baselines as such sides."""

from __future__ import annotations

from typing import Protocol

from engine import protocol
from engine.model import CacheState, Outcome
from engine.timing.exchange import CaseEnded, Exchange, FailedHere
from engine.timing.facts import ChunkTimes, Stretch, chunk_times, each_us
from engine.timing.orders import Costs
from engine.verdict.decide import Stop


class NotCapturedError(Exception):
    """The side's calls cannot be timed inside a graph; the message has the reason.  No finding follows."""


class Participant(Protocol):
    """A side of a comparison during one case."""

    name: str
    costs: Costs
    call_s: float
    device_s: float | None
    method: str
    reason: str
    notes: tuple[str, ...]

    async def single(self, slots: tuple[int, ...]) -> ChunkTimes:
        """Call once on each slot, every call with its own times."""
        ...

    async def burst(self, slots: tuple[int, ...]) -> Stretch:
        """Call once on each slot, back to back."""
        ...

    async def capture(self, slots: tuple[int, ...]) -> None:
        """Capture a graph of one call on each slot.

        Raises:
            NotCapturedError: that is impossible.
        """
        ...

    async def replay(self, slots: tuple[int, ...]) -> Stretch:
        """Run the graph, which was captured on these slots.

        Raises:
            NotCapturedError: its outputs are wrong, although each call's were right.
        """
        ...


class BaselineParticipant:
    """A baseline, called by the judge on its own copies of the slots after their last refresh."""

    def __init__(self, *, name: str, exchange: Exchange, cache: CacheState) -> None:
        self.name = name
        self.costs = Costs()
        self.call_s = 0.0
        self.device_s: float | None = None
        self.method, self.reason = "", "nothing was timed yet"
        self.notes: tuple[str, ...] = ()
        self._exchange = exchange
        self._cache = cache

    async def prepare(self) -> None:
        """Prepare it for the arranged case."""
        command = protocol.PrepareBaseline(id=protocol.new_id(), name=self.name)
        await self._exchange.ask_judge(command, protocol.Done, f"preparing {self.name}")

    async def single(self, slots: tuple[int, ...]) -> ChunkTimes:
        timed, took_s = await self._time(slots, protocol.CallMode.SINGLE)
        if len(timed.calls) != len(slots):
            message = f"the judge reported {len(timed.calls)} calls of {self.name}, expected {len(slots)}"
            raise CaseEnded(Stop(outcome=Outcome.ENGINE_ERROR, message=message))
        self.call_s = took_s / len(slots)
        self.method = timed.method
        if not timed.method:
            self.reason = timed.reason or "the judge gave no reason"
        self.costs.add(len(slots), took_s)
        batch = chunk_times(timed)
        self.device_s = batch.typical_s
        return batch

    async def burst(self, slots: tuple[int, ...]) -> Stretch:
        return await self._stretch(slots, protocol.CallMode.BURST)

    async def capture(self, slots: tuple[int, ...]) -> None:
        try:
            await self._time(slots, protocol.CallMode.CAPTURE)
        except FailedHere as ended:
            raise NotCapturedError(f"no graph: {ended.failed.message}") from ended

    async def replay(self, slots: tuple[int, ...]) -> Stretch:
        return await self._stretch(slots, protocol.CallMode.REPLAY)

    async def _stretch(self, slots: tuple[int, ...], mode: protocol.CallMode) -> Stretch:
        timed, took_s = await self._time(slots, mode)
        return Stretch(calls=len(slots), wall_s=took_s, claimed_us=each_us(timed, len(slots)))

    async def _time(self, slots: tuple[int, ...], mode: protocol.CallMode) -> tuple[protocol.Timed, float]:
        command = protocol.TimeBaseline(id=protocol.new_id(), name=self.name, slots=slots, mode=mode, cache=self._cache)
        timed, took_s = await self._exchange.ask_judge(command, protocol.Timed, f"timing {self.name}")
        self.notes = tuple(dict.fromkeys((*self.notes, *timed.notes)))
        return timed, took_s
