"""A candidate in its worker, as a side that is timed.

Every output is verified before the times of its chunk are kept; the worker's own times are only a claim beside those of
the parent's clock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from engine import protocol
from engine.model import BenchmarkPlan, CacheState, Outcome
from engine.timing.exchange import CaseEnded, Exchange, FailedHere, R, Side
from engine.timing.facts import ChunkTimes, Stretch, chunk_times, each_us
from engine.timing.orders import Costs
from engine.timing.timed_sides import NotCapturedError
from engine.verdict.decide import Stop

_LONGER = 20  # times the longest exchange so far: more than an honest chunk of any size takes
_LEAST_DEADLINE_S = 10.0
_WRONG = frozenset(
    {
        Outcome.WRONG_VALUE,
        Outcome.WRONG_SHAPE,
        Outcome.WRONG_DTYPE,
        Outcome.NONFINITE,
        Outcome.MUTATED_INPUT,
    }
)


class WorkerParticipant:
    """A candidate in its worker.  Each of its failures is raised as CaseEnded.

    It has exclusive use of the judge's block of this number.  `unrecorded` is why its worker cannot read the device's
    activity record, "" if it can.
    """

    def __init__(
        self,
        *,
        name: str,
        side: Side,
        exchange: Exchange,
        cache: CacheState,
        deadline_s: float,
        block: int = 0,
        tuning_s: float = BenchmarkPlan.tuning_s,
        unrecorded: str = "",
    ) -> None:
        self.name = name
        self.side = side
        self.unrecorded = unrecorded
        self.costs = Costs()
        self.call_s = 0.0
        self.device_s: float | None = None
        self.method, self.reason = "", "nothing was timed yet"
        self.kernels_ns: Counter[str] = Counter()
        self.nodes: Counter[str] = Counter()
        self.late: list[str] = []
        self.notes: tuple[str, ...] = ()
        self.calls = self.verified = 0
        self.dead = False
        self._exchange = exchange
        self._cache = cache
        self._block = block
        self._tuning_s = tuning_s
        self._deadline_s = deadline_s
        self._longest_s: float | None = None

    async def open_slots(self, case: str, arranged: protocol.Arranged) -> None:
        """View the slots."""
        layout = arranged.layouts[self._block]
        command = protocol.OpenSlots(
            id=protocol.new_id(), case=case, arguments=arranged.arguments, layout=layout, tuning_s=self._tuning_s
        )
        await self._ask(command, protocol.Done, "while opening the slots")

    async def single(self, slots: tuple[int, ...]) -> ChunkTimes:
        began = self._exchange.clock()
        await self._refresh(slots)
        timed, took_s = await self._time(slots, protocol.CallMode.SINGLE)
        self._expect(len(slots), len(timed.calls), len(timed.returned))
        await self._check(slots, timed.returned)
        self.call_s = took_s / len(slots)
        self.method = timed.method
        if not timed.method:
            self.reason = timed.reason or "the worker gave no reason"
        for kernel in timed.kernels:
            self.kernels_ns[kernel.name] += kernel.device_ns
        self.late += timed.late
        self.costs.add(len(slots), self._exchange.clock() - began)
        batch = chunk_times(timed)
        self.device_s = batch.typical_s
        return batch

    async def burst(self, slots: tuple[int, ...]) -> Stretch:
        await self._fetch_slots(slots)
        timed, took_s = await self._time(slots, protocol.CallMode.BURST)
        verified = await self._collect(slots)
        return Stretch(calls=len(slots), wall_s=took_s, claimed_us=each_us(timed, len(slots)), verified=verified)

    async def round_trip_s(self) -> float:
        """Time of an exchange that makes no calls."""
        _, took_s = await self._time((), protocol.CallMode.BURST)
        return took_s

    async def capture(self, slots: tuple[int, ...]) -> None:
        await self._fetch_slots(slots)
        try:
            timed, _ = await self._time(slots, protocol.CallMode.CAPTURE)
        except FailedHere as ended:
            if ended.failed.kind is protocol.FailureKind.TAMPERED:
                raise
            raise NotCapturedError(f"no graph: {ended.failed.message}") from ended
        for kernel in timed.kernels:
            self.nodes[kernel.name] += kernel.count

    async def replay(self, slots: tuple[int, ...]) -> Stretch:
        await self._fetch_slots(slots)
        timed, took_s = await self._time(slots, protocol.CallMode.REPLAY)
        counted = self.calls, self.verified
        try:
            if not await self._collect(slots):
                self.calls, self.verified = counted  # their times do not count either
                raise NotCapturedError("no graph: its calls return the same memory, so only the last could be verified")
        except CaseEnded as ended:
            if ended.stop.outcome not in _WRONG:
                raise
            self.calls, self.verified = counted  # their times do not count either
            # A graph repeats the decisions of the host at capture, and honest code may decide by the content.
            raise NotCapturedError(f"a replayed graph of it gives wrong answers: {ended.stop.message}") from ended
        return Stretch(calls=len(slots), wall_s=took_s, claimed_us=each_us(timed, len(slots)))

    async def replay_again(self, slots: tuple[int, ...]) -> Stretch:
        """Replay the captured graph on the current content and time it; nothing is verified or counted."""
        await self._fetch(())  # no new content; puts the cache in the same state as before a verified replay
        timed, took_s = await self._time(slots, protocol.CallMode.REPLAY)
        return Stretch(calls=len(slots), wall_s=took_s, claimed_us=each_us(timed, len(slots)), verified=False)

    async def _fetch_slots(self, slots: tuple[int, ...]) -> None:
        """Write new content and fetch it before the clock starts; a SINGLE run fetches its slots itself."""
        await self._refresh(slots)
        await self._fetch(slots)

    async def _refresh(self, slots: tuple[int, ...]) -> None:
        command = protocol.Refresh(id=protocol.new_id(), slots=tuple(dict.fromkeys(slots)), block=self._block)
        await self._exchange.ask_judge(command, protocol.Done, "filling slots")

    async def _fetch(self, slots: tuple[int, ...]) -> None:
        command = protocol.Fetch(id=protocol.new_id(), slots=tuple(dict.fromkeys(slots)), cache=self._cache)
        await self._ask(command, protocol.Done, "while taking over inputs")

    async def _time(self, slots: tuple[int, ...], mode: protocol.CallMode) -> tuple[protocol.Timed, float]:
        doing = f"while being timed at this shape ({mode.value})"
        command = protocol.TimeCalls(id=protocol.new_id(), slots=slots, mode=mode, cache=self._cache)
        timed, took_s = await self._ask(command, protocol.Timed, doing)
        self.notes = tuple(dict.fromkeys((*self.notes, *timed.notes)))
        return timed, took_s

    async def _collect(self, slots: tuple[int, ...]) -> bool:
        """Verify the outputs of the last burst or replay; returns whether each call had its own outputs.

        If the worker reports that calls share their outputs, which need not be true, only the last is checked.
        """
        collected, _ = await self._ask(
            protocol.Collect(id=protocol.new_id()), protocol.Timed, "while handing over outputs"
        )
        self._expect(len(slots), len(collected.returned))
        if collected.shared_outputs:
            self.calls += len(slots) - 1
            slots, returned = slots[-1:], collected.returned[-1:]
        else:
            # If a graph calls a slot more than once, the slot holds the result of the last call.
            last_by_slot = dict(zip(slots, collected.returned, strict=True))
            slots, returned = tuple(last_by_slot), tuple(last_by_slot.values())
        await self._check(slots, returned)
        return not collected.shared_outputs

    async def _check(self, slots: tuple[int, ...], returned: tuple[tuple[protocol.ReturnedSpec, ...], ...]) -> None:
        command = protocol.Check(id=protocol.new_id(), slots=slots, returned=returned, block=self._block)
        checked, _ = await self._exchange.ask_judge(command, protocol.Checked, "checking outputs")
        self.calls += len(slots)
        self.verified += min(checked.right, len(slots))
        if checked.right < len(slots):
            first = checked.right if checked.first_wrong is None else checked.first_wrong
            raise CaseEnded(_wrong(checked, number=self.calls - len(slots) + first + 1))

    async def _ask(self, command: protocol.AnyCommand, wanted: type[R], doing: str) -> tuple[R, float]:
        deadline_s = self._deadline_s
        if self._longest_s is not None:
            deadline_s = min(deadline_s, max(_LEAST_DEADLINE_S, _LONGER * self._longest_s))
        try:
            reply, took_s = await self._exchange.ask_worker(self.side, command, wanted, doing, deadline_s=deadline_s)
        except FailedHere as ended:
            stop = replace(ended.stop, message=f"{doing}: {ended.stop.message}")
            raise FailedHere(stop, ended.failed) from ended
        except CaseEnded:
            self.dead = True
            raise
        if isinstance(command, protocol.TimeCalls):
            self._longest_s = max(took_s, self._longest_s or 0.0)
        return reply, took_s

    def _expect(self, slots: int, *answers: int) -> None:
        if any(answer != slots for answer in answers):
            message = f"the worker reported {min(answers)} calls, expected {slots}"
            raise CaseEnded(Stop(outcome=Outcome.TAMPERED, message=message))


def _wrong(checked: protocol.Checked, number: int) -> Stop:
    """End of a case with a wrong output at the timed shape."""
    where = f"verified cases passed, but call {number} at the timed shape failed"
    report = next((report for report in checked.reports if report.outcome is not Outcome.PASS), None)
    if report is not None:
        return Stop(outcome=report.outcome, message=f"{where}: {report.name}: {report.message or report.outcome.value}")
    if checked.trouble is not None:
        return Stop(outcome=Outcome.MUTATED_INPUT, message=f"{where}: {checked.trouble}")
    message = f"{where}: the judge gave no reason; this is an error of kgtui"
    return Stop(outcome=Outcome.ENGINE_ERROR, message=message)
