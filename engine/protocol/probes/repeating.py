"""Commands and replies of repeated calls: another program order, outputs read twice, and how they differ.

A right answer is right in every order, and does not change after the call has returned.  The worker only returns bytes;
the judge decides whether they are right and what has changed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.protocol.messages import (
    MOST_RETURNED,
    CaseCommand,
    Command,
    Count,
    Message,
    Reply,
    Returned,
    Word,
)


class ProgramOrder(Message, frozen=True):
    """Run the programs of each grid in another order: backwards, or shuffled by a `seed`.

    That is for the interpreter.  The order on a device cannot be chosen: there other work runs beside the call, for a
    duration given by the seed.  With `witness` the interpreter reports two programs that conflict.
    """

    seed: Count | None = None
    witness: bool = False


class Access(Message, frozen=True):
    """A load or store of one program; the line is None where it is not in the candidate's file."""

    stores: bool
    program: tuple[Count, Count, Count]
    line: Count | None


class Race(Message, frozen=True):
    """Two programs of one launch access one element in this order, and the answer may depend on it.

    At least one stores; where both do, they store different values.  `index` counts from the first element of the
    storage of `tensor`.  It is the worker's claim: it locates a race and proves nothing.
    """

    kernel: Word
    tensor: Word
    index: Count
    first: Access
    second: Access


class Watch(Message, frozen=True):
    """Return the arguments at these positions, too, after the outputs, and keep all for RepeatOutputs.

    Without `returns` only those arguments are returned: an entry that should return nothing has no room for outputs.
    """

    returns: bool = True
    positions: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_RETURNED)] = ()


class RepeatOutputs(Command, tag="repeat_outputs", frozen=True):
    """Worker: once the device is idle and `pause_s` have passed, return the outputs of the watched call again."""

    pause_s: float


class OutputsRepeated(Reply, tag="outputs_repeated", frozen=True):
    """The returned tensors are at the place of those of the call."""

    returned: Returned


class CompareReading(CaseCommand, tag="compare_reading", frozen=True):
    """Judge: compare the outputs of a watched call with the expected ones and with those kept last.

    With `keep` these outputs are kept for the next comparison.
    """

    outputs: str
    max_output_bytes: Count
    returned: Returned
    keep: bool


class Difference(Message, frozen=True):
    """Right elements of one output, and elements whose bits differ from those of the kept one.

    `changed` is None if no comparable output was kept.
    """

    name: Word
    total: Count
    right: Count
    changed: Count | None


class ReadingCompared(Reply, tag="reading_compared", frozen=True):
    """One entry for each output of the case."""

    outputs: Annotated[tuple[Difference, ...], msgspec.Meta(max_length=MOST_RETURNED)]
