"""A call of which the device's own record is kept: which kernels ran, whose they are, and for how long.

The worker reads the record in a process that runs untrusted code: its content is a claim that the parent's
clock bounds, and that can count against a candidate, but never alone in its favour.
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
    """Worker: call the entry with the device's record running, unpoisoned; then capture one call as a graph."""

    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    outputs: str
    max_output_bytes: Count


class ActivitySeen(Message, frozen=True):
    """All that one kernel did during the call; or all copies, or all fills, which have no name.

    `own` says that the function which ran is one that Triton loaded for a kernel of the candidate's files:
    the same function in the same module, not only the same name.  `file` is the one that defines it where
    Triton loaded it for a kernel of another file.  `replayed` came from a graph that the candidate replayed,
    of which the driver tells names alone.
    """

    kind: ActivityKind
    name: Word = ""
    own: bool = False
    file: Word = ""
    replayed: bool = False
    launches: Count = 1
    device_ns: Count = 0


class NodeSeen(Message, frozen=True):
    """A kernel in a graph that one more call was captured as, and whether its function is the candidate's own."""

    name: Word
    own: bool


class Recorded(Reply, tag="recorded", frozen=True):
    """The entry returned, and this is what the device did.

    `streams` counts those that had work beside the caller's.  `late` names what was put on the device after
    the entry had returned.  `uncaptured` says why there are no nodes.
    """

    returned: Returned
    activities: Annotated[tuple[ActivitySeen, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)]
    streams: Count = 0
    late: Annotated[tuple[Word, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)] = ()
    nodes: Annotated[tuple[NodeSeen, ...], msgspec.Meta(max_length=MOST_ACTIVITIES)] = ()
    uncaptured: Word = ""
