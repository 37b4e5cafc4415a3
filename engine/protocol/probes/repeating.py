"""Commands and replies of calling again: programs in another order, outputs read twice, and how they differ.

A right answer is right in every order, and stays what it was when the call returned.  The worker only hands
over bytes; what of them is right, and what has changed, the judge says.
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

    That is for the interpreter.  The order on a device cannot be chosen: there other work runs beside the call,
    for a duration given by the seed.  With `witness` the interpreter reports two programs that conflict.
    """

    seed: Count | None = None
    witness: bool = False


class Access(Message, frozen=True):
    """A load or store of one program; the line is None where it is not in the candidate's file."""

    stores: bool
    program: tuple[Count, Count, Count]
    line: Count | None


class Race(Message, frozen=True):
    """Two programs of one launch touch one element, in this order, and the answer may depend on that.

    One of them stores; where both do, they store different values.  `index` counts from the first element of the
    storage of `tensor`.  The worker says so: that names a place, and proves nothing.
    """

    kernel: Word
    tensor: Word
    index: Count
    first: Access
    second: Access


class Watch(Message, frozen=True):
    """Hand back the arguments at these positions too, after what the entry returned, and keep all for RepeatOutputs.

    Without `returns` only those arguments are handed back: what an entry returns that should return nothing is no
    output, and there is no room for it.
    """

    returns: bool = True
    positions: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_RETURNED)] = ()


class RepeatOutputs(Command, tag="repeat_outputs", frozen=True):
    """Worker: once the device is idle and `pause_s` have gone by, hand back again what a watched call handed back."""

    pause_s: float


class OutputsRepeated(Reply, tag="outputs_repeated", frozen=True):
    """The returned tensors are in the place of those of the call."""

    returned: Returned


class Contrast(CaseCommand, tag="contrast", frozen=True):
    """Judge: how the outputs of a watched call differ from what was expected, and from those that were kept last.

    With `keep` the next ones are contrasted with these.
    """

    outputs: str
    max_output_bytes: Count
    returned: Returned
    keep: bool


class Difference(Message, frozen=True):
    """Of one output how many elements are right, and of how many the bits are others than those of the kept one.

    `changed` is None where nothing was kept that this one can be held against.
    """

    name: Word
    total: Count
    right: Count
    changed: Count | None


class Contrasted(Reply, tag="contrasted", frozen=True):
    """One entry for each output of the case."""

    outputs: Annotated[tuple[Difference, ...], msgspec.Meta(max_length=MOST_RETURNED)]
