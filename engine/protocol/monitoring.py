"""A worker's record of its candidate's effects.

All of it is a claim that a candidate may forge: it can count against one, and its silence for none.
"""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.protocol.messages import Command, Count, LineNumber, Message, Reply, Word

MOST_OPERATORS, MOST_ACTIONS, MOST_CHANGES = 1024, 256, 256
"""Of entries in one reply."""
INTO = ".out"
"""Behind the names of copies that go into memory that is there; one to memory of its own is no piece of an answer."""
LOOKING_UP = ("index", "index_select", "gather", "embedding", "take")
"""Operators that take elements out of their first argument as they are, where the others say."""

MOVING = (
    "flip", "roll", "repeat", "repeat_interleave", "slice_scatter", "select_scatter", "resolve_conj", "resolve_neg",
)  # fmt: skip
"""Operators that move elements in ways that a tape does not replay."""
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
    ]
)
"""Operators of arithmetic element by element and of sums."""


class OperatorKind(enum.StrEnum):
    """Kind of work of a torch operator.

    LIGHT is arithmetic element by element and sums: a candidate may finish so what its kernel left.
    QUESTION has no answer but yes and no.  COMPUTE is everything that no other kind fits.
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

    A BUSY_THREAD holds tensors, a BURNING_THREAD uses the processor between calls.  PRELOADING has a
    library loaded in front of all others by processes that are started later.
    """

    FUNCTION = "function"
    SETTING = "setting"
    RANDOM_STATE = "random_state"
    THREAD = "thread"
    BUSY_THREAD = "busy_thread"
    BURNING_THREAD = "burning_thread"
    PRELOADING = "preloading"
    PROCESS = "process"


class Observe(Command, tag="observe", frozen=True):
    """Worker: report the candidate's effects since it was loaded; sent after the last verified call."""


class OperatorSeen(Message, frozen=True):
    """An operator of torch that verified calls used.

    `largest_in` and `largest_out` are elements of all tensors of one use, taken and returned; the totals are
    over all uses.  Neither is set for VIEW and METADATA, which make no content.  `case` is set for LIGHT
    and COMPUTE.  `reads_inputs` says that it took an argument of the entry, or what torch alone made of one;
    `integers` that all it took and made were whole numbers.
    """

    name: Word
    kind: OperatorKind
    case: Word = ""
    reads_inputs: bool = False
    integers: bool = False
    uses: Count = 1
    largest_in: Count = 0
    largest_out: Count = 0
    total_in: Count = 0
    total_out: Count = 0


class ActionSeen(Message, frozen=True):
    """Something that code of the candidate did, `line` of its file; `loading` when that was before any call."""

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
    """Observed effects; `unchecked` has what could not be checked, and why.  More than fits is left out and counted."""

    operators: Annotated[tuple[OperatorSeen, ...], msgspec.Meta(max_length=MOST_OPERATORS)] = ()
    actions: Annotated[tuple[ActionSeen, ...], msgspec.Meta(max_length=MOST_ACTIONS)] = ()
    changes: Annotated[tuple[ChangeSeen, ...], msgspec.Meta(max_length=MOST_CHANGES)] = ()
    unchecked: Annotated[tuple[Word, ...], msgspec.Meta(max_length=16)] = ()
