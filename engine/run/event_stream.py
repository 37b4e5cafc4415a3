"""Events of a run, reported in the order in which they occur."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from engine.model import Finding, Location, Outcome, Severity, Stage, Stream, events
from engine.model.benchmark import Holder
from engine.model.layers import LayerReport


class EventEmitter:
    """Queue of the events of one run; `clock` is in seconds, and the run began at `started`."""

    def __init__(self, clock: Callable[[], float], *, started: float) -> None:
        self.clock = clock
        self._started = started
        self._queue: asyncio.Queue[events.Event | None] = asyncio.Queue()
        self._logged_traces: set[str] = set()
        self.findings: list[Finding] = []
        self.layers: list[LayerReport] = []

    async def stream(self) -> AsyncGenerator[events.Event, None]:
        """All reported events, until `close`."""
        while (event := await self._queue.get()) is not None:
            yield event

    def close(self) -> None:
        """End the stream: nothing more is reported."""
        self._queue.put_nowait(None)

    def now(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self._started

    def emit(self, event: events.Event) -> None:
        """Put an event into the stream."""
        self._queue.put_nowait(event)

    def begin(self, stage: Stage, total: int | None = None) -> float:
        """Report the begin of a stage; returns its time."""
        began = self.now()
        self.emit(events.StageStarted(at_s=began, stage=stage, total=total))
        return began

    def end(
        self,
        stage: Stage,
        began: float,
        outcome: Outcome = Outcome.PASS,
        message: str = "",
        location: Location | None = None,
    ) -> None:
        """Report the end of a stage that began at `began`."""
        now = self.now()
        self.emit(
            events.StageFinished(
                at_s=now, stage=stage, outcome=outcome, elapsed_s=now - began, message=message, location=location
            )
        )

    def find(self, finding: Finding) -> None:
        """Record and report a finding."""
        self.findings.append(finding)
        self.emit(events.FindingRaised(at_s=self.now(), finding=finding))

    def report(self, report: LayerReport) -> None:
        """Record and report a layer that was checked, or could not be."""
        self.layers.append(report)
        self.emit(events.LayerChecked(at_s=self.now(), report=report))

    def note(self, check: str, message: str) -> None:
        """Report a finding of severity NOTE."""
        self.find(Finding(check=check, severity=Severity.NOTE, message=message))

    def awaited(self, holder: Holder | None) -> None:
        """Report that the run waits for the device; None is a holder whose name cannot be read."""
        self.emit(events.DeviceAwaited(at_s=self.now(), holder=holder))

    def log(self, stream: Stream, text: str) -> None:
        """Report output of the candidate or the engine."""
        if text:
            self.emit(events.LogWritten(at_s=self.now(), stream=stream, text=text))

    def trace(self, trace: str) -> None:
        """Log the traceback of an error once, even if many cases fail with it; each result has its own error."""
        frames = trace.rstrip().rpartition("\n")[0]
        if frames not in self._logged_traces:
            self._logged_traces.add(frames)
            self.log(Stream.STDERR, trace)
