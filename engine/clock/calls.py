"""Calls one side of a comparison: one by one with a record of each call, back to back, or as a graph.

Each single call has a window of its own on the device's clock, and so have our own activities before and after it: a
device activity belongs to the window in which it began, and to none when it began outside of all, or when a window of
ours has more activities than we caused.
"""

from __future__ import annotations

import bisect
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine import protocol
from engine.clock.cupti import Activity, CuptiError
from engine.clock.instruments import HOLD, Event, Graph, Instruments

METHOD = "cupti"
_FIRST_HOLD_NS, _LONGEST_HOLD_NS = 100_000, 1_000_000
_AMPLE = 2  # times the launching time: work on another stream begins with a delay
_PATIENCE = 3  # calls that exceed the longest hold: such calls synchronise the device themselves
_EARLY_NS = 1_000  # before the hold ends: a kernel may begin while its predecessor retires
_GAP_NS = 12_000  # between windows: the accuracy to which the record and the host clock agree
_MOST_NAMES, _NAME_CHARACTERS = 256, 500  # kernel names per reply: a reply is one line of limited length
_OUT_OF_STEP = "the device's record and its clock disagree: the kernel that held the stream is not adjacent to the call"
_NOT_HELD = (
    "calls synchronize with the device, so the stream was not held while they launched: call times include the gaps "
    "between launches, and whether a call waits for the caller's stream was not checked"
)


@dataclass(frozen=True, kw_only=True)
class Window:
    """A period of the device's clock from `begin_ns` to the next window.

    It belongs to call number `call`, or to no call, and then at most `most` activities are ours.
    """

    begin_ns: int
    call: int | None = None
    most: int = 0


@dataclass(frozen=True, kw_only=True)
class Record:
    """Activities of single calls on the device; without a precise timer `method` is "" and `reason` is set.

    `notes` are deviations from the usual procedure.
    """

    calls: tuple[protocol.CallTime, ...]
    kernels: tuple[protocol.KernelTime, ...]
    late: tuple[str, ...]
    method: str
    reason: str
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Chunk:
    """Single calls in progress."""

    windows: list[Window] = field(default_factory=list)
    holds: list[bool] = field(default_factory=list)
    events: list[tuple[Event, Event]] = field(default_factory=list)
    reason: str = ""


class Calls:
    """Calls one side; `kept` are the outputs of the last burst or replay."""

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        self._recording = False
        self._late: tuple[str, ...] = ()
        self._graph: Graph | None = None
        self._captured: tuple[object, ...] = ()
        self._hold_ns = _FIRST_HOLD_NS
        self._exceeded_holds = 0
        self.kept: tuple[object, ...] = ()

    def single(
        self,
        calls: Sequence[Callable[[], object]],
        *,
        before: Callable[[int], int],
        after: Callable[[int, object], int],
    ) -> Record:
        """Make each call with the device idle before and after.

        `before` and `after` get the number of the call and return the most activities that they may have put on the
        device.  The record is kept on until `rest`, so that activities between two runs of single calls are recorded
        too.
        """
        chunk = _Chunk(reason=self._start())
        try:
            for number, call in enumerate(calls):
                self._call_once(chunk, number, call, before, after)
        except BaseException:
            self.rest()
            raise
        return self._record(chunk, len(calls))

    def burst(self, calls: Sequence[Callable[[], object]]) -> int:
        """Make the calls back to back; returns how long the stream was busy with them, in nanoseconds.

        Zero calls keep the earlier outputs.
        """
        self.rest()
        if calls:  # frees the memory of earlier results first
            self.kept = ()
        began, ended = self._instruments.event(), self._instruments.event()
        began.record()
        returned = tuple([call() for call in calls])
        ended.record()
        self._instruments.synchronise()
        self.kept = returned or self.kept
        return began.elapsed_ns(ended)

    def capture(self, calls: Sequence[Callable[[], object]]) -> tuple[protocol.KernelTime, ...]:
        """Capture the calls into a graph; returns its kernels without times, () if they are unknown.

        Raises:
            Exception: they cannot be captured.
        """
        self.forget()
        returned: list[object] = []
        graph = self._instruments.capture(lambda: returned.extend(call() for call in calls))
        self._graph, self._captured = graph, tuple(returned)
        counts = Counter(_cut(node.name) for node in graph.nodes)
        return tuple(protocol.KernelTime(name=name, count=count) for name, count in counts.most_common(_MOST_NAMES))

    def replay(self) -> int:
        """Launch the graph once; returns how long the stream was busy with it, in nanoseconds."""
        assert self._graph is not None
        self.rest()
        began, ended = self._instruments.event(), self._instruments.event()
        began.record()
        self._graph.replay()
        ended.record()
        self._instruments.synchronise()
        self.kept = self._captured
        return began.elapsed_ns(ended)

    @property
    def captured(self) -> int:
        """Number of calls in the graph; 0 if there is none."""
        return len(self._captured)

    def rest(self) -> None:
        """Stop recording; activities since the last single call are reported with the next."""
        if not self._recording or self._instruments.recorder is None:
            return
        self._recording = False
        with contextlib.suppress(CuptiError):  # a lasting error is reported by the next run
            self._instruments.recorder.stop()
            self._late += tuple(activity.name for activity in self._instruments.recorder.take())

    def forget(self) -> None:
        """Release the graph and everything kept."""
        self.rest()
        self._graph, self._captured, self.kept = None, (), ()

    def _start(self) -> str:
        """Start recording the device's work; returns the reason for a failure, or ""."""
        if self._instruments.recorder is None:
            return self._instruments.reason
        if not self._recording:
            try:
                self._instruments.recorder.start()
            except CuptiError as error:
                return str(error)
            self._recording = True
        return ""

    def _call_once(
        self,
        chunk: _Chunk,
        number: int,
        call: Callable[[], object],
        before: Callable[[int], int],
        after: Callable[[int, object], int],
    ) -> None:
        began, ended = self._instruments.event(), self._instruments.event()
        prepared_ns = self._boundary(chunk)
        most_before = before(number)
        called_ns = self._boundary(chunk)
        hold_ns = self._hold_ns
        if hold_ns:
            self._instruments.hold(hold_ns)
        launched_ns = time.perf_counter_ns()
        began.record()
        returned = call()
        ended.record()
        self._adapt(hold_ns, time.perf_counter_ns() - launched_ns)
        returned_ns = self._boundary(chunk)
        most_after = after(number, returned)
        chunk.windows += [
            Window(begin_ns=prepared_ns, most=most_before),
            Window(begin_ns=called_ns, call=number),
            Window(begin_ns=returned_ns, most=most_after),
            Window(begin_ns=self._boundary(chunk)),
        ]
        chunk.events.append((began, ended))
        chunk.holds.append(bool(hold_ns))

    def _adapt(self, hold_ns: int, launching_ns: int) -> None:
        """Choose the hold for the next call: longer than this launch took, or none if the call waits for the device."""
        if not hold_ns or _AMPLE * launching_ns < hold_ns:
            self._exceeded_holds = 0
            return
        outlasts = min(hold_ns, launching_ns) >= _LONGEST_HOLD_NS
        self._exceeded_holds = self._exceeded_holds + 1 if outlasts else 0
        self._hold_ns = 0 if self._exceeded_holds >= _PATIENCE else min(2 * hold_ns, _LONGEST_HOLD_NS)

    def _boundary(self, chunk: _Chunk) -> int:
        """A time with the device idle around it, for longer than its record and the host's clock may differ."""
        self._instruments.synchronise()
        idle_since_ns = now_ns = self._now(chunk)
        while now_ns and now_ns - idle_since_ns < _GAP_NS and not chunk.reason:
            now_ns = self._now(chunk)
        return idle_since_ns + _GAP_NS // 2

    def _now(self, chunk: _Chunk) -> int:
        """The device's clock; when it cannot be read, the chunk has no precise times."""
        if chunk.reason or self._instruments.recorder is None:
            return 0
        try:
            return self._instruments.recorder.now_ns()
        except CuptiError as error:
            chunk.reason = str(error)
            return 0

    def _record(self, chunk: _Chunk, calls: int) -> Record:
        stream_ns = [began.elapsed_ns(ended) for began, ended in chunk.events]
        by_call: list[list[Activity]] = [[] for _ in range(calls)]
        late: tuple[str, ...] = ()
        if not chunk.reason:
            assert self._instruments.recorder is not None
            try:
                by_call, late = attributed(self._instruments.recorder.take(), chunk.windows, calls=calls)
            except CuptiError as error:
                chunk.reason = str(error)
        holds = [_hold_of(found) if held else None for found, held in zip(by_call, chunk.holds, strict=True)]
        if not chunk.reason and any(held and hold is None for held, hold in zip(chunk.holds, holds, strict=True)):
            # Our own hold kernel is in the wrong window, so the windows cannot be assigned to calls.
            chunk.reason, by_call, late = _OUT_OF_STEP, [[] for _ in range(calls)], ()
        by_call = [
            [activity for activity in found if activity is not hold] for found, hold in zip(by_call, holds, strict=True)
        ]
        earlier, self._late = self._late, ()
        return Record(
            calls=tuple(map(_call_time, by_call, holds, stream_ns)),
            kernels=_by_name([activity for found in by_call for activity in found]),
            late=_shown_names(earlier + late),
            method="" if chunk.reason else METHOD,
            reason=chunk.reason,
            notes=() if all(chunk.holds) else (_NOT_HELD,),
        )


def attributed(
    activities: Sequence[Activity], windows: Sequence[Window], *, calls: int
) -> tuple[list[list[Activity]], tuple[str, ...]]:
    """Activities of each call, by start, and the names of those that belong to no call.

    `windows` are in the order of time.  A window of ours with more activities than it may have is not ours alone, and
    all of its activities are named.
    """
    begins = [window.begin_ns for window in windows]
    inside: list[list[Activity]] = [[] for _ in windows]
    late: list[Activity] = []
    for activity in sorted(activities, key=lambda activity: activity.start_ns):
        at = bisect.bisect_right(begins, activity.start_ns) - 1
        (inside[at] if at >= 0 else late).append(activity)
    by_call: list[list[Activity]] = [[] for _ in range(calls)]
    for window, found in zip(windows, inside, strict=True):
        if window.call is not None:
            by_call[window.call] = found
        elif len(found) > window.most:
            late += found
    return by_call, tuple(activity.name for activity in late)


def _hold_of(found: Sequence[Activity]) -> Activity | None:
    """The kernel that held the stream: the first of its name, for it was launched before the call was made."""
    return next((activity for activity in found if HOLD in activity.name), None)


def _call_time(found: Sequence[Activity], hold: Activity | None, stream_ns: int) -> protocol.CallTime:
    span_ns = max(one.end_ns for one in found) - min(one.start_ns for one in found) if found else None
    early = sum(one.start_ns < hold.end_ns - _EARLY_NS for one in found) if hold is not None else 0
    busy_ns = _busy_ns(found)
    return protocol.CallTime(span_ns=span_ns, stream_ns=stream_ns, activities=len(found), early=early, busy_ns=busy_ns)


def _busy_ns(found: Sequence[Activity]) -> int:
    """How long any of these ran; they are in the order of their starts."""
    busy_ns = until_ns = 0
    for one in found:
        busy_ns += max(0, one.end_ns - max(one.start_ns, until_ns))
        until_ns = max(until_ns, one.end_ns)
    return busy_ns


def _by_name(activities: Sequence[Activity]) -> tuple[protocol.KernelTime, ...]:
    """Total time of each name, the longest first."""
    counts = Counter(_cut(activity.name) for activity in activities)
    times_ns: Counter[str] = Counter()
    for activity in activities:
        times_ns[_cut(activity.name)] += max(0, activity.end_ns - activity.start_ns)
    return tuple(
        protocol.KernelTime(name=name, device_ns=time_ns, count=counts[name])
        for name, time_ns in times_ns.most_common(_MOST_NAMES)
    )


def _shown_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(_cut(name) for name in names[:_MOST_NAMES])


def _cut(name: str) -> str:
    return name[:_NAME_CHARACTERS]
