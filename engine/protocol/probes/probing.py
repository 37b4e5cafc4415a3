"""Commands and replies of probing: a call with some kernels withheld, and what of its outputs is right nevertheless.

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
    """How often a kernel was to be launched in a call, and how many of these launches were withheld.

    `moved` is how many of the others left nothing in their tensors but what another of their tensors held before.
    """

    kernel: Kernel
    launches: Count
    withheld: Count
    moved: Count = 0


Kernels: TypeAlias = Annotated[tuple[Kernel, ...], msgspec.Meta(max_length=MOST_KERNELS)]
Ledger: TypeAlias = Annotated[tuple[Withheld, ...], msgspec.Meta(max_length=MOST_KERNELS)]


class Withhold(Message, frozen=True):
    """Launch nothing of these kernels during a call; of no kernel at all when there are none.

    With `look` those that are named are launched, too, and for every launch it is reported whether it only moved.
    With `may_copy_case` a launch that copies memory of the case has not only moved: that is what the operator asks for.
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
    """How many elements of one output are right.

    `trivial` is how many the best of these would have right: zeros, ones, what the memory held before, and
    each input.  Where that is all of them the output tells nothing.
    """

    name: Word
    total: Count
    right: Count
    trivial: Count


class CorrectCounted(Reply, tag="correct_counted", frozen=True):
    """One entry for each output of the case."""

    outputs: Annotated[tuple[CorrectCount, ...], msgspec.Meta(max_length=MOST_RETURNED)]
