"""The tape of a call: allocations, moves, fills and launches that led to its outputs, as a worker claims them.

A tape has no addresses: memory is numbered in the order of its first use, and a view is a place in one storage.  It is
decoded strictly and bounded, and `engine.replay.checks` checks what types cannot express.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from engine.errors import WireError
from engine.model import Launch
from engine.protocol.launches import MOST_LAUNCHES, require_small_enough
from engine.protocol.messages import MOST_NUMBER, MOST_RETURNED, Count, FloatSpec, LineNumber, Message, Text, Word

MOST_STEPS, MOST_STORAGES, MOST_ARGUMENTS, MOST_READS = 8192, 4096, 1024, 64
MOST_ADDRESSES = 1 << 16  # addresses in one array of pointers
MOST_TAPE_BYTES = 96 << 20
MOST_MODULE_CHARACTERS = 2 << 20
_MOST_DIMENSIONS = 32  # dimensions of a view, allowed by every version of numpy

ELEMENT_BYTES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "uint32": 4, "uint64": 8,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float4_e2m1fn_x2": 1,
    "float16": 2, "bfloat16": 2,
    "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""The element types of views that are replayed, by the names of torch, with their bytes in memory."""
FRACTIONAL = frozenset(name for name in ELEMENT_BYTES if name.startswith(("float", "bfloat", "complex")))
"""Those with fractions."""

ViewSizes: TypeAlias = Annotated[tuple[Count, ...], msgspec.Meta(max_length=_MOST_DIMENSIONS)]
OptionalLine: TypeAlias = LineNumber | None
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-MOST_NUMBER - 1, le=MOST_NUMBER)]


class TapedStorage(Message, frozen=True):
    """Memory of `bytes` bytes: that of storage `argument` of the arena, or memory of the tape's own."""

    bytes: Count
    argument: Count | None = None


class TapedView(Message, tag_field="kind", tag="view", frozen=True):
    """A strided view of storage number `storage`; the offset in bytes, strides in elements of `dtype`."""

    storage: Count
    dtype: Word
    offset_bytes: Count
    shape: ViewSizes
    strides: ViewSizes


class TapedNumber(Message, tag_field="kind", tag="number", frozen=True):
    """A bool or an integer argument of a kernel; one beyond the range of int64 is the negative number of its bits."""

    value: bool | Whole


class TapedDescriptor(Message, tag_field="kind", tag="descriptor", frozen=True):
    """A tensor descriptor made on the host: its base, and shape and strides in elements.

    The shape of its blocks is part of the specialisation.  `rounds_to_tf32` is whether loads round float32 to TF32.
    """

    base: TapedView
    shape: ViewSizes
    strides: ViewSizes
    padding_is_nan: bool = False
    rounds_to_tf32: bool = False


TapedValue: TypeAlias = TapedView | TapedNumber | FloatSpec | TapedDescriptor


def view_behind(value: TapedValue) -> TapedView | None:
    """The view that an argument of a launch points to; None for a number."""
    if isinstance(value, TapedDescriptor):
        return value.base
    return value if isinstance(value, TapedView) else None


class TapedArgument(Message, frozen=True):
    """An argument of a launch by the name of its parameter; "sizes.2" is a part of a tuple."""

    name: Word
    value: TapedValue


class Filled(Message, tag_field="step", tag="fill", frozen=True):
    """Every element of `target` was set to the value of these bytes."""

    target: TapedView
    element: Annotated[bytes, msgspec.Meta(min_length=1, max_length=16)]


class Moved(Message, tag_field="step", tag="move", frozen=True):
    """The elements of `source` were copied to `target`, of the same shape, and cast to its type."""

    target: TapedView
    source: TapedView

    @property
    def drops_fractions(self) -> bool:
        """Whether the cast truncates numbers, or compares them with 0 for a bool."""
        return self.source.dtype in FRACTIONAL and self.target.dtype not in FRACTIONAL


class LookedUp(Message, tag_field="step", tag="look_up", frozen=True):
    """`target` was set to the elements of `source` at `positions`, integers that count from the end below zero.

    Along `dimension` each position is that of a whole slice, as in `index_select`, and the dimensions of `positions`
    take its place in the shape of `target`; with `each` it is that of one element, as in `gather`.
    """

    target: TapedView
    source: TapedView
    positions: TapedView
    dimension: Count
    each: bool = False
    line: OptionalLine = None


class Given(Message, tag_field="step", tag="given", frozen=True):
    """The content of a storage came from elsewhere: from `operator`, or from an unknown origin when that is "".

    `reads` are the storages that the operator took.  `data` are the bytes of the storage if they do not depend on the
    arguments, as far as the worker can tell, and None otherwise.  `integers` is whether the operator took and returned
    whole numbers only, none of them the bits of fractions.
    """

    storage: Count
    reads: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_ARGUMENTS)] = ()
    operator: Word = ""
    line: OptionalLine = None
    data: bytes | None = None
    integers: bool = False

    @property
    def work(self) -> str:
        """What torch computed: the operator, and whether it made integers, such as offsets into tensors."""
        what = "torch computes integers for the kernels, such as offsets" if self.integers else "torch computes"
        return f"{what}: {self.operator}"


class TapedPlace(Message, frozen=True):
    """A byte of a storage."""

    storage: Count
    offset_bytes: Count


class Addressed(Message, tag_field="step", tag="addresses", frozen=True):
    """A storage of 64-bit words was set to the addresses of these places, or to numbers: a table with pointers."""

    storage: Count
    words: Annotated[tuple[TapedPlace | Whole, ...], msgspec.Meta(max_length=MOST_ADDRESSES)]


class Launched(Message, tag_field="step", tag="launch", frozen=True):
    """Specialisation number `specialisation` was launched for this grid."""

    specialisation: Count
    grid: Annotated[tuple[Count, ...], msgspec.Meta(min_length=3, max_length=3)]
    arguments: Annotated[tuple[TapedArgument, ...], msgspec.Meta(max_length=MOST_ARGUMENTS)]
    line: OptionalLine = None

    @property
    def views(self) -> tuple[TapedView, ...]:
        """The views that its arguments point to."""
        found = (view_behind(argument.value) for argument in self.arguments)
        return tuple(view for view in found if view is not None)


Step: TypeAlias = Filled | Moved | LookedUp | Given | Addressed | Launched


class ClaimedKernel(Message, frozen=True):
    """The worker's claimed TTIR of a specialisation, and the arguments that it takes: it can refute, not prove."""

    ttir: Annotated[str, msgspec.Meta(max_length=MOST_MODULE_CHARACTERS)]
    arguments: Annotated[tuple[Word, ...], msgspec.Meta(max_length=MOST_ARGUMENTS)]


def makes_pointers(ttir: str) -> bool:
    """Whether a kernel makes pointers of integers, and so may access more storages than those of its arguments."""
    return "tt.int_to_ptr" in ttir


class HostRead(Message, frozen=True):
    """The host read content of a tensor: by `operator`, at a line of the candidate."""

    operator: Word
    line: OptionalLine = None


class Tape(Message, frozen=True):
    """Steps from the arguments of a call to its outputs; `incomplete` is why one is missing, or "".

    `claimed` are the kernels of the specialisations, in their order, where the worker compiles to TTIR, and `addresses`
    where each storage began in host memory.
    """

    storages: Annotated[tuple[TapedStorage, ...], msgspec.Meta(max_length=MOST_STORAGES)]
    specialisations: Annotated[tuple[Launch, ...], msgspec.Meta(max_length=MOST_LAUNCHES)]
    steps: Annotated[tuple[Step, ...], msgspec.Meta(max_length=MOST_STEPS)]
    returned: Annotated[tuple[TapedView | None, ...], msgspec.Meta(max_length=MOST_RETURNED)]
    reads: Annotated[tuple[HostRead, ...], msgspec.Meta(max_length=MOST_READS)] = ()
    incomplete: Text = ""
    claimed: Annotated[tuple[ClaimedKernel, ...], msgspec.Meta(max_length=MOST_LAUNCHES)] = ()
    addresses: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_STORAGES)] = ()

    @property
    def launches(self) -> tuple[Launched, ...]:
        """The steps that launch a kernel."""
        return tuple(step for step in self.steps if isinstance(step, Launched))


_tapes: msgspec.json.Decoder[Tape] = msgspec.json.Decoder(Tape)


def read_tape(text: bytes) -> Tape:
    """The tape that a worker wrote.

    Raises:
        WireError: the text is not a valid tape, or too large.
    """
    if len(text) > MOST_TAPE_BYTES:
        raise WireError(f"a tape of {len(text):,} bytes, more than {MOST_TAPE_BYTES:,}")
    try:
        tape = _tapes.decode(text)
        require_small_enough(tape.specialisations)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireError(f"not a tape: {error}") from error
    return tape
