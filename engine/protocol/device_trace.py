"""A call with the device's activity record: which kernels ran, their owner, and their duration.

The worker reads the record in a process that runs untrusted code: its content is a claim that the parent's clock
bounds.  It can count against a candidate, but never alone in its favour.
"""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.protocol.messages import Command, Count, Message, Reply, Returned, ValueSpec, Word
from engine.protocol.verifying import ArenaSpec

MOST_ACTIVITIES = 256
"""Of entries in one reply."""


class ActivityKind(enum.StrEnum):
    """Kind of a device's activity."""

    KERNEL = "kernel"
    COPY = "copy"
    FILL = "fill"


class Record(Command, tag="record", frozen=True):
    """Worker: call the entry with activity recording on and without poison; then capture one call as a graph."""

    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    outputs: str
    max_output_bytes: Count


class ActivitySeen(Message, frozen=True):
    """All activities of one kernel during the call; or all copies, or all fills, which have no name.

    `own` is whether the function is one that Triton loaded for a kernel of the candidate's files: the same function in
    the same module, not only the same name.  `file` defines it if Triton loaded it for a kernel of another file.
    `replayed` activities came from a graph that the candidate replayed, for which the driver reports names alone.
    """

    kind: ActivityKind
    name: Word = ""
    own: bool = False
    file: Word = ""
    replayed: bool = False
    launches: Count = 1
    device_ns: Count = 0


class NodeSeen(Message, frozen=True):
    """A kernel in the graph captured from one more call, and whether its function is the candidate's own."""

    name: Word
    own: bool


class Recorded(Reply, tag="recorded", frozen=True):
    """The entry returned, with this activity on the device.

    `streams` counts other streams than the caller's that had work.  `late` names activities that began after the entry
    had returned.  `uncaptured` is the reason why there are no nodes.
    """

    returned: Returned
    activities: Annotated[tuple[ActivitySeen, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)]
    streams: Count = 0
    late: Annotated[tuple[Word, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)] = ()
    nodes: Annotated[tuple[NodeSeen, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)] = ()
    uncaptured: Word = ""
