"""Commands and replies of calls with some kernels withheld, and of the elements that are right nevertheless.

A worker's report of withheld launches is a claim, like all of its reports; the judge counts right elements.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from engine.protocol.messages import (
    MOST_RETURNED,
    CaseCommand,
    Count,
    Message,
    Reply,
    Returned,
    Word,
)

MOST_KERNELS = 256
"""Of kernels in one command or reply."""


class Kernel(Message, frozen=True):
    """A kernel of the candidate: its name, and the line on which its function begins."""

    name: Word
    line: Count


class Withheld(Message, frozen=True):
    """Launches of a kernel in a call, and how many of them were withheld.

    `moved` counts the others that left only values in their tensors that another of their tensors held before.
    """

    kernel: Kernel
    launches: Count
    withheld: Count
    moved: Count = 0


Kernels: TypeAlias = Annotated[tuple[Kernel, ...], msgspec.Meta(max_length=MOST_KERNELS)]
Ledger: TypeAlias = Annotated[tuple[Withheld, ...], msgspec.Meta(max_length=MOST_KERNELS)]


class Withhold(Message, frozen=True):
    """Suppress all launches of these kernels during a call; of every kernel if `kernels` is empty.

    With `look` the named kernels are launched, too, and for every launch it is reported whether it only moved data.
    With `may_copy_case` a launch that copies memory of the case does not count as such: the operator asks for it.
    """

    kernels: Kernels = ()
    look: bool = False
    may_copy_case: bool = False


class CountCorrect(CaseCommand, tag="count_correct", frozen=True):
    """Count right elements in the outputs of a call that was not expected to be right."""

    outputs: str
    max_output_bytes: Count
    returned: Returned


class CorrectCount(Message, frozen=True):
    """Number of right elements of one output.

    `trivial` is the largest count that these answers would have: zeros, ones, what the memory held before, and each
    input.  Where that is all of them the output shows nothing.
    """

    name: Word
    total: Count
    right: Count
    trivial: Count


class CorrectCounted(Reply, tag="correct_counted", frozen=True):
    """One entry for each output of the case."""

    outputs: Annotated[tuple[CorrectCount, ...], msgspec.Meta(max_length=MOST_RETURNED)]
