"""Parts of every message: the base of commands and replies, and values described without their bytes.

Every field of a reply has a bound: a worker may forge every line that it writes, and the parent passes some of what it
reads on to the judge.  Bounds are far above real use.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from engine.model.problems.values import ObjectKind, require_names

MOST_NUMBER = 2**63 - 1  # the largest integer of SQLite and of every other consumer of events
MOST_WORD, MOST_TEXT = 512, 1 << 16  # characters
MOST_DIMENSIONS, MOST_RETURNED = 64, 64

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST_NUMBER)]
MOST_PLACES = 3
"""Cases that a judge can have prepared at once."""
Place: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=MOST_PLACES)]
Stride: TypeAlias = Annotated[int, msgspec.Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)]
LineNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)]
Byte: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=255)]
Identifier: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]
Word: TypeAlias = Annotated[str, msgspec.Meta(max_length=MOST_WORD)]
FilePath: TypeAlias = Annotated[str, msgspec.Meta(max_length=4096)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=MOST_TEXT)]
Sizes: TypeAlias = Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_DIMENSIONS)]
FilePaths: TypeAlias = Annotated[tuple[FilePath, ...], msgspec.Meta(max_length=1024)]
Digest: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
"""A SHA-256 in hexadecimal digits."""


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen record, encoded as JSON with its type under "type"."""


class StorageSpec(Message, frozen=True):
    """A block of raw bytes in an arena file, 256-byte aligned; all tensors of a case view such blocks."""

    offset: Count
    bytes: Count


class TensorSpec(Message, tag_field="kind", tag="tensor", frozen=True):
    """A tensor: a strided view, in elements, of storage number `storage` of its arena.

    With `on_cpu` the entry gets a copy in host memory, whatever the device; with `conjugated` or `negated` the tensor
    has torch's lazy bit of that name, so that its values are not those of its bytes.
    """

    storage: Count
    dtype: Word
    shape: Sizes
    strides: Annotated[tuple[Stride, ...], msgspec.Meta(max_length=MOST_DIMENSIONS)]
    first: Count
    on_cpu: bool = False
    conjugated: bool = False
    negated: bool = False


class ScalarSpec(Message, tag_field="kind", tag="scalar", frozen=True):
    """A bool, int, str or None."""

    value: bool | int | str | None


class FloatSpec(Message, tag_field="kind", tag="float", frozen=True):
    """A float in hexadecimal, which JSON cannot round and which includes nan and inf."""

    hex: str


class ComplexSpec(Message, tag_field="kind", tag="complex", frozen=True):
    """A complex number, its parts as in FloatSpec."""

    real: str
    imaginary: str


class DTypeSpec(Message, tag_field="kind", tag="dtype", frozen=True):
    """A torch.dtype by its name."""

    name: str


class SequenceSpec(Message, tag_field="kind", tag="sequence", frozen=True):
    """A list or tuple of values."""

    items: tuple[ValueSpec, ...]
    is_tuple: bool


class MappingSpec(Message, tag_field="kind", tag="mapping", frozen=True):
    """A dict of values by texts, in its order."""

    keys: tuple[str, ...]
    items: tuple[ValueSpec, ...]

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.items):
            raise ValueError(f"a mapping of {len(self.keys)} keys to {len(self.items)} values")


class ObjectSpec(Message, tag_field="kind", tag="object", frozen=True):
    """A PlainObject: the entry gets an instance of a class of this name with these attributes."""

    name: Word
    of_kind: ObjectKind
    keys: tuple[Word, ...]
    items: tuple[ValueSpec, ...]

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.items):
            raise ValueError(f"an object of {len(self.keys)} attributes and {len(self.items)} values")
        require_names(self.name, self.of_kind, self.keys)


class PointersSpec(Message, tag_field="kind", tag="pointers", frozen=True):
    """A PointerArray: the entry gets the addresses of these tensors."""

    items: tuple[TensorSpec, ...]


ValueSpec: TypeAlias = (
    TensorSpec
    | ScalarSpec
    | FloatSpec
    | ComplexSpec
    | DTypeSpec
    | SequenceSpec
    | MappingSpec
    | ObjectSpec
    | PointersSpec
)


def tensor_specs(spec: ValueSpec) -> list[TensorSpec]:
    """The tensors in a value, in their order."""
    match spec:
        case TensorSpec():
            return [spec]
        case SequenceSpec() | MappingSpec() | ObjectSpec() | PointersSpec():
            return [part for item in spec.items for part in tensor_specs(item)]
        case _:
            return []


class Command(Message, tag_field="type", frozen=True):
    """Base of every command; its reply must repeat the id."""

    id: Identifier


class CaseCommand(Command, frozen=True, kw_only=True):
    """Base of the judge's commands on a prepared case; several are prepared at once, each at its place."""

    place: Place = 0


class ReturnedPlace(Message, frozen=True):
    """The place of a returned tensor in memory, strides in elements.

    `storage` is the number of the storage of the arena that it begins in, at `offset_bytes`; None for other memory.
    """

    strides: Sizes
    storage: Count | None = None
    offset_bytes: Count = 0


class ReturnedSpec(Message, frozen=True):
    """One value that the entry returned: a tensor's bytes in the outputs file, or the name of another type.

    A Python number is sent as the bytes of a 0-d tensor with `is_number`.  A tensor with `is_lazy` had torch's
    conjugate or negative bit; the bytes are its values.  `place` is where it was, None if that is not known.
    """

    type_name: Word
    dtype: Word = ""
    shape: Sizes = ()
    offset: Count = 0
    bytes: Count = 0
    is_number: bool = False
    is_lazy: bool = False
    place: ReturnedPlace | None = None


Returned: TypeAlias = Annotated[tuple[ReturnedSpec, ...], msgspec.Meta(max_length=MOST_RETURNED)]


class Reply(Message, tag_field="type", frozen=True):
    """Base of every reply: the id of its command."""

    id: Identifier


class Done(Reply, tag="done", frozen=True):
    """The command was carried out and has no result."""
