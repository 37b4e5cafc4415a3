"""A device with scripted behaviour, which replaces a real one in tests.

It has one clock, which advances when it is read and when work is put on the device, and it shares memory by handles as
a driver does.  Calls run in this process, so that judge and worker can be tested together without a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from engine.clock.cupti import Activity, CuptiError, Kind
from engine.clock.graphs import KernelNode
from engine.clock.instruments import HOLD, Event, Instruments
from engine.clock.listener import DriverCall

TICK_NS = 10
EVICTION = "evict"
TOUCH = "touch"


@dataclass(kw_only=True)
class ScriptedBlock:
    """Memory that can be opened by its handle."""

    handle: str
    size_bytes: int
    content: torch.Tensor


@dataclass(kw_only=True)
class ScriptedGraph:
    """Calls that are repeated, in place of a graph's launches."""

    work: Callable[[], None]
    nodes: tuple[KernelNode, ...]

    def replay(self) -> None:
        """Repeat the calls."""
        self.work()


class ScriptedListener:
    """Record of the work that is put on the scripted device, as a driver reports it."""

    def __init__(self) -> None:
        self.is_listening = False
        self._calls: list[DriverCall] = []

    def start(self) -> None:
        """Start recording."""
        self.is_listening = True

    def stop(self) -> None:
        """Stop recording."""
        self.is_listening = False

    def hear(self, call: DriverCall) -> None:
        """Record a call of the driver."""
        if self.is_listening:
            self._calls.append(call)

    def take(self) -> tuple[DriverCall, ...]:
        """Calls recorded since the last time."""
        taken, self._calls = tuple(self._calls), []
        return taken


@dataclass(kw_only=True)
class ScriptedDevice:
    """A scripted device: `trouble` is the error of its recorder; `capturing` whether a graph is being captured."""

    cache_bytes: int = 1024
    note: str = ""
    trouble: CuptiError | None = None
    capturing: bool = False
    is_recording: bool = False
    clock_ns: int = 1000
    evictions: int = 0
    touched: list[int] = field(default_factory=list)
    blocks: list[ScriptedBlock] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    listener: ScriptedListener = field(default_factory=ScriptedListener)
    functions: dict[str, int] = field(default_factory=dict)
    _activities: list[Activity] = field(default_factory=list)
    _launches: int = 0

    def instruments(self, *, precise: bool = True) -> Instruments:
        """Its instruments; without a recorder when they are not to be `precise`."""
        return Instruments(
            recorder=self if precise else None,
            reason="" if precise else "scripted without a recorder",
            cache_bytes=self.cache_bytes,
            synchronise=lambda: None,
            event=lambda: ScriptedEvent(device=self),
            hold=lambda duration_ns: self.put(HOLD, duration_ns, named=False),
            capture=self.capture,
            evict=self.evict,
            touch=self.touch,
            forbid_persistence=lambda: self.note,
            listener=self.listener if precise else None,
        )

    def put(
        self,
        name: str,
        duration_ns: int,
        *,
        after_ns: int = 0,
        named: bool = True,
        function: int | None = 1,
        kind: Kind = Kind.KERNEL,
        stream: int = 0,
        thread: int | None = None,
    ) -> None:
        """Put an activity on the device `after_ns` from now; the clock advances past its end.

        The driver call is made by `thread`, with the handle of a `function`; None is the replay of a graph.
        """
        if named:
            self.names.append(name)
        self._launches += 1
        if function is not None:
            self.functions[name] = function
        self.listener.hear(
            DriverCall(
                correlation=self._launches,
                thread=threading.get_ident() if thread is None else thread,
                name=name if function is not None else "",
                function=function,
                replays=function is None,
            )
        )
        begin = self.clock_ns + after_ns
        self.clock_ns = begin + duration_ns
        if self.is_recording:
            self._activities.append(
                Activity(
                    kind=kind,
                    name=name,
                    start_ns=begin,
                    end_ns=self.clock_ns,
                    stream=stream,
                    correlation=self._launches,
                )
            )

    def memory(self, size_bytes: int) -> ScriptedBlock:
        """A new block of this size."""
        block = ScriptedBlock(
            handle=f"block {len(self.blocks)}",
            size_bytes=size_bytes,
            content=torch.zeros(size_bytes, dtype=torch.uint8),
        )
        self.blocks.append(block)
        return block

    def open_block(self, handle: str, size_bytes: int) -> torch.Tensor:
        """The bytes of the block with this handle."""
        return next(block.content[:size_bytes] for block in self.blocks if block.handle == handle)

    def evict(self) -> int:
        """Count an eviction, which is one activity."""
        self.evictions += 1
        self.put(EVICTION, TICK_NS)
        return 1

    def touch(self, storages: Sequence[torch.Tensor]) -> int:
        """Record the sizes of these storages, one activity each."""
        self.touched += [storage.numel() for storage in storages]
        for _ in storages:
            self.put(TOUCH, TICK_NS)
        return len(storages)

    def capture(self, work: Callable[[], None]) -> ScriptedGraph:
        """Do the work, which a real device would only record."""
        before, self.capturing = len(self.names), True
        try:
            work()
        finally:
            self.capturing = False
        nodes = tuple(KernelNode(name=name, function=self.functions.get(name, 0)) for name in self.names[before:])
        return ScriptedGraph(work=work, nodes=nodes)

    def start(self) -> None:
        """Record."""
        if self.trouble is not None:
            raise self.trouble
        self.is_recording = True

    def stop(self) -> None:
        """Record no longer."""
        self.is_recording = False

    def take(self) -> tuple[Activity, ...]:
        """Activities recorded since the last time."""
        if self.trouble is not None:
            raise self.trouble
        taken, self._activities = tuple(self._activities), []
        return taken

    def now_ns(self) -> int:
        """The clock, which advances with each reading."""
        self.clock_ns += TICK_NS
        return self.clock_ns


@dataclass(kw_only=True)
class ScriptedEvent:
    """A point of the scripted clock."""

    device: ScriptedDevice
    at_ns: int = 0

    def record(self) -> None:
        """Record the current clock."""
        self.at_ns = self.device.clock_ns

    def elapsed_ns(self, later: Event) -> int:
        """The time between two moments."""
        assert isinstance(later, ScriptedEvent)
        return later.at_ns - self.at_ns
