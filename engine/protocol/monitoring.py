"""A worker's record of its candidate's effects.

All of it is a claim that a candidate may forge: it can count against a candidate, and its absence never counts in
favour of one.
"""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.protocol.messages import Command, Count, LineNumber, Message, Reply, Word

MOST_OPERATORS, MOST_ACTIONS, MOST_CHANGES, MOST_UNCHECKED = 1024, 256, 256, 16
"""Of entries in one reply."""
INTO = ".out"
"""End of the names of copies into existing memory; a copy to new memory is not part of an answer."""
LOOKING_UP = ("index", "index_select", "gather", "embedding", "take")
"""Operators that copy elements of their first argument unchanged, at positions given by the others."""

MOVING = ("flip", "roll", "repeat", "repeat_interleave", "slice_scatter", "select_scatter")
"""Operators that move elements in ways that a tape does not replay."""
RESOLVE_NEG = "aten::resolve_neg"
"""Name of a copy of a view with torch's lazy negative bit, which computes the negatives."""
LIGHT = frozenset(
    [
        "add",
        "add_",
        "sub",
        "sub_",
        "rsub",
        "mul",
        "mul_",
        "div",
        "div_",
        "neg",
        "neg_",
        "resolve_neg",
        "sum",
        "amax",
        "amin",
        "max",
        "min",
        "maximum",
        "minimum",
        "clamp",
        "clamp_",
        "clamp_min",
        "clamp_max",
        "reciprocal",
        "abs",
        "masked_fill",
        "masked_fill_",
        "index_fill_",
        "complex",
    ]
)
"""Operators of arithmetic element by element and of sums, and what joins real and imaginary parts."""
ADDRESSING = frozenset(
    f"{name}{end}"
    for name in (
        "add",
        "sub",
        "rsub",
        "mul",
        "neg",
        "div",
        "floor_divide",
        "remainder",
        "clamp",
        "clamp_min",
        "clamp_max",
        "cumsum",
        "__lshift__",
        "__rshift__",
        "bitwise_and",
        "bitwise_or",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
    )
    for end in ("", "_")
)
"""Arithmetic that makes addresses of indices, or a mask of masks: on integers it makes no answer with fractions."""
TABULATING = frozenset(
    [
        *LOOKING_UP,
        "sort",
        "bincount",
        "searchsorted",
        "bucketize",
        "_unique2",
        "unique_consecutive",
        "index_put",
        "index_put_",
        "scatter",
        "scatter_",
    ]
)
"""Operators that make tables of integers, such as orders, counts and bounds: of integers they make no fractions."""
PLACING = ADDRESSING | {"where", "sum"}
"""Operators that on integers make no answer that is a rearrangement of fractions, only the places of these."""


class OperatorKind(enum.StrEnum):
    """Kind of work of a torch operator.

    LIGHT is element-wise arithmetic and sums, which a candidate may use to finish the result of its kernel.  QUESTION
    returns only yes or no.  COMPUTE is everything else.
    """

    ALLOCATION = "allocation"
    VIEW = "view"
    METADATA = "metadata"
    COPY = "copy"
    RANDOM = "random"
    QUESTION = "question"
    LIGHT = "light"
    COMPUTE = "compute"


class ActionKind(enum.StrEnum):
    """Kind of an action of the candidate's code in the process, by Python's audit events."""

    FILE_READ = "file_read"
    FILE_WRITTEN = "file_written"
    SOCKET = "socket"
    PROCESS = "process"
    EXEC = "exec"
    LIBRARY = "library"
    MEMORY = "memory"
    FRAMES = "frames"
    OBJECTS = "objects"
    IMPORT = "import"


class ChangeKind(enum.StrEnum):
    """Kind of a difference in the process between load and last call; THREAD and PROCESS are new ones.

    A TENSOR_THREAD holds tensors, a BUSY_THREAD uses the processor between calls.  PRELOADING makes later processes
    load a library before all others.
    """

    FUNCTION = "function"
    SETTING = "setting"
    RANDOM_STATE = "random_state"
    THREAD = "thread"
    TENSOR_THREAD = "tensor_thread"
    BUSY_THREAD = "busy_thread"
    PRELOADING = "preloading"
    PROCESS = "process"


class Observe(Command, tag="observe", frozen=True):
    """Worker: report the candidate's effects since it was loaded; sent after the last verified call."""


class OperatorSeen(Message, frozen=True):
    """An operator of torch that verified calls used.

    `largest_in` and `largest_out` count the elements of all tensors of one use, taken and returned; the totals are over
    all uses.  Neither is set for VIEW and METADATA, which make no content.  `case` is set for operators that make
    content from other content, at random or from numbers outside of torch, and "" for the others.  `reads_inputs` is
    whether it took an argument of the entry, or a value that torch alone made of one; `integers` whether all that it
    took and returned were whole numbers, and none of them the bits of fractions; a table counts only if it was made of
    arguments that are integers, and is not a sum.  `positions` is whether all that it took came from arguments that are
    integers in every call in which another argument has fractions, such as indices and masks.  `line` is that of the
    first use in the candidate's file.
    """

    name: Word
    kind: OperatorKind
    case: Word = ""
    reads_inputs: bool = False
    integers: bool = False
    positions: bool = False
    line: LineNumber | None = None
    uses: Count = 1
    largest_in: Count = 0
    largest_out: Count = 0
    total_in: Count = 0
    total_out: Count = 0

    def with_uses_of(self, other: OperatorSeen) -> OperatorSeen:
        """The uses of both, of the same operator."""
        return msgspec.structs.replace(
            self,
            uses=self.uses + other.uses,
            largest_in=max(self.largest_in, other.largest_in),
            largest_out=max(self.largest_out, other.largest_out),
            total_in=self.total_in + other.total_in,
            total_out=self.total_out + other.total_out,
        )


class ActionSeen(Message, frozen=True):
    """An action of the candidate's code at `line` of its file; `loading` if it was before any call."""

    kind: ActionKind
    detail: Word
    line: LineNumber | None = None
    loading: bool = False
    times: Count = 1


class ChangeSeen(Message, frozen=True):
    """A difference from before the load: `name` is the object, `detail` the change."""

    kind: ChangeKind
    name: Word
    detail: Word = ""


class Observed(Reply, tag="observed", frozen=True):
    """Observed effects; `unchecked` has what could not be checked, and why.

    Entries beyond the bounds are only counted.
    """

    operators: Annotated[tuple[OperatorSeen, ...], msgspec.Meta(max_length=MOST_OPERATORS)] = ()
    actions: Annotated[tuple[ActionSeen, ...], msgspec.Meta(max_length=MOST_ACTIONS)] = ()
    changes: Annotated[tuple[ChangeSeen, ...], msgspec.Meta(max_length=MOST_CHANGES)] = ()
    unchecked: Annotated[tuple[Word, ...], msgspec.Meta(max_length=MOST_UNCHECKED)] = ()
