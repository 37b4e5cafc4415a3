"""Commands and replies of timing: the judge fills slots, a side is called on them, the judge checks the outputs.

A slot is one whole set of a case's inputs with room for its outputs; all slots of a case are consecutive in one block
of device memory that judge and worker share.  Two workers share no block.
"""

from __future__ import annotations

import enum
from typing import Annotated, TypeAlias

import msgspec

from engine.model import CacheState, OutputReport, ProblemId
from engine.protocol.messages import (
    Command,
    Count,
    Message,
    Reply,
    Returned,
    StorageSpec,
    Text,
    ValueSpec,
    Word,
)

_MOST_CALLS = 4096
_MOST_KERNELS = 256

ReturnedByCall: TypeAlias = Annotated[tuple[Returned, ...], msgspec.Meta(max_length=_MOST_CALLS)]
KernelNames: TypeAlias = Annotated[tuple[Word, ...], msgspec.Meta(max_length=_MOST_KERNELS)]


class CallMode(enum.StrEnum):
    """The way in which timed calls are made.

    SINGLE: one by one with the device idle before and after, each with its own record.  BURST: back to back, for the
    caller's clock alone; outputs are kept until Collect.  CAPTURE: into a CUDA graph, not timed.  REPLAY: that graph
    once, on the current content of the slots; outputs are kept until Collect.
    """

    SINGLE = "single"
    BURST = "burst"
    CAPTURE = "capture"
    REPLAY = "replay"


class SlotLayout(Message, frozen=True):
    """Layout of the slots of a case: slot n begins at `first + n * stride` of the block behind `handle`.

    `storages` and `outputs` are places inside a slot; the bytes between them are guard zones.
    """

    handle: str
    bytes: Count
    first: Count
    stride: Count
    slots: Count
    storages: tuple[StorageSpec, ...]
    outputs: StorageSpec


class Arrange(Command, tag="arrange", frozen=True):
    """Judge: divide device memory into slots for a case, at most `most_slots` and `most_bytes`, without content.

    The same slots in each of `blocks` blocks, one for every worker.  Memory of an earlier case is reused, whatever is
    free now.
    """

    problem: ProblemId
    case: str
    most_slots: Count
    most_bytes: Count
    blocks: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1


class Refresh(Command, tag="refresh", frozen=True):
    """Judge: write new random content, poisoned outputs and guard zones to these slots of a block."""

    slots: tuple[Count, ...]
    block: Count = 0


class Check(Command, tag="check", frozen=True):
    """Judge: verify the outputs of the calls on these slots of a block, one tuple of returned values a slot."""

    slots: tuple[Count, ...]
    returned: ReturnedByCall
    block: Count = 0


class PrepareBaseline(Command, tag="prepare_baseline", frozen=True):
    """Judge: prepare the baseline of this name for the arranged case; Failed with UNSUPPORTED has the reason."""

    name: str


class TimeBaseline(Command, tag="time_baseline", frozen=True):
    """Judge: call a prepared baseline on private copies of these slots as of their last Refresh.

    The cache is treated as for the candidate: before each call of a SINGLE run, else once before the run.
    """

    name: str
    slots: tuple[Count, ...]
    mode: CallMode
    cache: CacheState


class MeasurePeaks(Command, tag="measure_peaks", frozen=True):
    """Judge: measure copy bandwidth and matrix peaks of the device."""


class FreeSlots(Command, tag="free_slots", frozen=True):
    """Judge: free the slots and forget the arranged case."""


class OpenSlots(Command, tag="open_slots", frozen=True):
    """Worker: open the block and allocate copies of its slots; later commands refer to slots by number.

    Autotuners of the candidate may measure for `tuning_s` until the next such command.
    """

    case: str
    arguments: tuple[ValueSpec, ...]
    layout: SlotLayout
    tuning_s: float = 30.0


class Fetch(Command, tag="fetch", frozen=True):
    """Worker: copy these slots to its own memory, for all calls except those of a SINGLE run.

    Afterwards the second-level cache is emptied when `cache` is COLD.
    """

    slots: tuple[Count, ...]
    cache: CacheState


class TimeCalls(Command, tag="time_calls", frozen=True):
    """Worker: call the entry once on each of these slots, in this order.

    A SINGLE run fetches its slots before the first call and writes them back after the last; before each call the
    second-level cache is emptied by reading other memory when `cache` is COLD, or the slot's inputs are read when it is
    WARM.  In the other runs its state is that left by the last Fetch and the calls before.
    """

    slots: tuple[Count, ...]
    mode: CallMode
    cache: CacheState = CacheState.COLD


class Collect(Command, tag="collect", frozen=True):
    """Worker: copy the outputs kept from the last BURST or REPLAY into their slots, and write those back."""


class CloseSlots(Command, tag="close_slots", frozen=True):
    """Worker: release the block, the graph and everything kept."""


class Arranged(Reply, tag="arranged", frozen=True):
    """The slots are allocated, the same in every block; `l2_bytes` is the size of the device's second-level cache."""

    arguments: tuple[ValueSpec, ...]
    layouts: Annotated[tuple[SlotLayout, ...], msgspec.Meta(min_length=1)]
    slot_bytes: Count
    l2_bytes: Count


class Checked(Reply, tag="checked", frozen=True):
    """Number of right slots; reports and other errors of the first one that was not.

    `first_wrong` is its position in the command's slots, None when all were right.
    """

    right: Count
    first_wrong: Count | None = None
    reports: tuple[OutputReport, ...] = ()
    trouble: str | None = None


class CallTime(Message, frozen=True):
    """One timed call, in nanoseconds.

    `span_ns` is from the first start to the last end of the call's device activities, None without a precise timer or
    without activities; `stream_ns` is the time between events on the current stream.  `early` is how many of its
    `activities` began more than a microsecond before the work queued ahead of the call had ended.  `busy_ns` is the
    span without the gaps between activities.
    """

    span_ns: Count | None
    stream_ns: Count | None
    activities: Count
    early: Count = 0
    busy_ns: Count = 0


class KernelTime(Message, frozen=True):
    """Device time under one name in all calls of a run; copies and fills have the name "".

    Nodes of a captured graph have no time yet.
    """

    name: Word
    device_ns: Count = 0
    count: Count = 1


class Timed(Reply, tag="timed", frozen=True):
    """Calls were made.

    `method` names how spans were taken ("cupti"), "" with the `reason` when they were not.  `kernels` are the kernels
    of the calls of a SINGLE run, the longest first, or those that CAPTURE found in the graph; `late` are names of
    activities outside of every call.  Both are cut to what fits a line.  `returned` has a tuple for each slot of a
    SINGLE run; for the others Collect brings it.  `shared_outputs` is whether calls returned the same memory, so that
    only the last outputs are left.  `notes` are conditions that were not met, and differences of a baseline from its
    name.
    """

    calls: Annotated[tuple[CallTime, ...], msgspec.Meta(max_length=_MOST_CALLS)] = ()
    returned: ReturnedByCall = ()
    kernels: Annotated[tuple[KernelTime, ...], msgspec.Meta(max_length=_MOST_KERNELS)] = ()
    late: KernelNames = ()
    method: Word = ""
    reason: Text = ""
    elapsed_ns: Count = 0
    shared_outputs: bool = False
    notes: Annotated[tuple[Text, ...], msgspec.Meta(max_length=64)] = ()


class PeaksMeasured(Reply, tag="peaks_measured", frozen=True):
    """Bytes a second of a copy, read plus written, and operations a second of a matrix product by precision."""

    copy_bytes_per_s: float
    flops_per_s: dict[str, float]
