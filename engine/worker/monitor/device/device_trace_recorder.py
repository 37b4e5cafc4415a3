"""The device's record of one call, and of one more that is captured as a graph.

The record has times and names, the driver's calls have the function behind each name.  Both are validated first, on a
known launch.  Launches after the entry has returned, by any thread, are late: an honest call has put all of its work on
the device by then.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from engine import protocol
from engine.clock.cupti import Activity, CuptiError, Kind
from engine.clock.instruments import HOLD, Instruments, Listener, Recorder
from engine.clock.listener import DriverCall
from engine.worker.monitor.device.own_kernels import OwnKernels

_sleep = time.sleep  # bound before a candidate can replace it
_KNOWN_NS = 1000
_SETTLING_S = 0.02  # for work that another thread launches after the return
_CHARACTERS = 500  # longest name: a reply is one line of limited length
_KINDS = {
    Kind.KERNEL: protocol.ActivityKind.KERNEL,
    Kind.COPY: protocol.ActivityKind.COPY,
    Kind.FILL: protocol.ActivityKind.FILL,
}


class DeviceTraceRecorder:
    """Records calls of the entry; `instruments` are those that this worker made before it loaded a candidate."""

    def __init__(self, instruments: Instruments | None, own: OwnKernels) -> None:
        self._instruments = instruments
        self._own = own
        self._own_names: dict[str, bool] = {}

    def record(
        self, identifier: str, call: Callable[[], object], leave: Callable[[object], tuple[protocol.ReturnedSpec, ...]]
    ) -> protocol.Recorded:
        """Make the call, write its result with `leave`, and report the activities of the device.

        Raises:
            CuptiError: there is no record, or it is incorrect.
        """
        instruments = self._instruments
        if instruments is None or instruments.recorder is None or instruments.listener is None:
            raise CuptiError(instruments.reason if instruments is not None else "nothing is recorded on this device")
        with _running(instruments.recorder, instruments.listener):
            stream = _proven(instruments, instruments.recorder, instruments.listener)
            returned = call()
            within = instruments.listener.take()
            handed_back = leave(returned)
            instruments.synchronise()
            _sleep(_SETTLING_S)
            instruments.synchronise()
            after = instruments.listener.take()
            activities = instruments.recorder.take()
        ours = {one.correlation for one in after if one.thread == threading.get_ident()}
        theirs = [one for one in activities if one.correlation not in ours]
        late = {one.correlation for one in after} - ours
        seen = self._attributed(theirs, (*within, *after))
        nodes, uncaptured = self._captured(instruments, call)
        return protocol.Recorded(
            id=identifier,
            returned=handed_back,
            activities=seen,
            nodes=nodes,
            uncaptured=uncaptured,
            streams=len({one.stream for one in theirs} - {stream}),
            late=tuple(one.name[:_CHARACTERS] for one in theirs if one.correlation in late)[: protocol.MOST_ACTIVITIES],
        )

    def _attributed(
        self, activities: Sequence[Activity], calls: Sequence[DriverCall]
    ) -> tuple[protocol.ActivitySeen, ...]:
        """Activities, the longest first, by kind and name and by their origin."""
        function_by_number = {one.correlation: one.function for one in calls if one.function is not None}
        for one in calls:
            if one.function is not None:  # also during the capture of a graph, in this call or an earlier one
                own = self._own.owns(one.function)
                self._own_names[one.name] = own and self._own_names.get(one.name, True)
        seen: dict[tuple[object, ...], protocol.ActivitySeen] = {}
        for activity in activities:
            entry = self._seen(activity, function_by_number.get(activity.correlation))
            key = (entry.kind, entry.name, entry.own, entry.file, entry.replayed)
            known = seen.get(key)
            seen[key] = entry if known is None else _sum(known, entry)
        longest_first = sorted(seen.values(), key=lambda one: -one.device_ns)
        if len(longest_first) > protocol.MOST_ACTIVITIES:
            raise CuptiError(f"{len(longest_first)} different kernels ran in one call, more than are reported")
        return tuple(longest_first)

    def _seen(self, activity: Activity, function: int | None) -> protocol.ActivitySeen:
        device_ns = max(0, activity.end_ns - activity.start_ns)
        if activity.kind is not Kind.KERNEL:
            return protocol.ActivitySeen(kind=_KINDS[activity.kind], device_ns=device_ns)
        replayed = function is None
        own = self._own_names.get(activity.name, False) if replayed else self._own.owns(function)
        return protocol.ActivitySeen(
            kind=protocol.ActivityKind.KERNEL,
            name=activity.name[:_CHARACTERS],
            own=own,
            replayed=replayed,
            file="" if own else self._own.file_of(function)[-_CHARACTERS:],
            device_ns=device_ns,
        )

    def _captured(
        self, instruments: Instruments, call: Callable[[], object]
    ) -> tuple[tuple[protocol.NodeSeen, ...], str]:
        """The kernels of one more call as nodes of a graph, or why it cannot be captured."""

        def work() -> None:
            call()

        try:
            graph = instruments.capture(work)
        except Exception as error:  # a candidate may raise anything during a capture
            instruments.synchronise()
            return (), f"{type(error).__name__}: {error}".splitlines()[0][:_CHARACTERS]
        nodes = [
            protocol.NodeSeen(name=node.name[:_CHARACTERS], own=self._own.owns(node.function)) for node in graph.nodes
        ]
        if len(nodes) > protocol.MOST_ACTIVITIES:
            return (), f"its graph has {len(nodes)} kernels, more than are reported"
        return tuple(nodes), "" if nodes else "the nodes of its graph could not be read, or there are none"


@contextlib.contextmanager
def _running(recorder: Recorder, listener: Listener) -> Iterator[None]:
    recorder.start()
    try:
        listener.start()
        try:
            yield
        finally:
            listener.stop()
    finally:
        recorder.stop()


def _proven(instruments: Instruments, recorder: Recorder, listener: Listener) -> int:
    """The number of the caller's stream, from a known launch on which record and driver agree.

    Raises:
        CuptiError: they do not agree.
    """
    instruments.synchronise()
    recorder.take()
    listener.take()
    instruments.hold(_KNOWN_NS)
    instruments.synchronise()
    known = [one for one in recorder.take() if HOLD in one.name]
    noted = [one for one in listener.take() if HOLD in one.name]
    if len(known) != 1 or [one.correlation for one in noted] != [known[0].correlation]:
        raise CuptiError(f"the driver and the device's record disagree on a launch of kgtui: {noted} and {known}")
    return known[0].stream


def _sum(known: protocol.ActivitySeen, more: protocol.ActivitySeen) -> protocol.ActivitySeen:
    return msgspec.structs.replace(known, launches=known.launches + 1, device_ns=known.device_ns + more.device_ns)
