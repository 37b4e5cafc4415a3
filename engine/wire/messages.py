"""What every message is made of: the base of commands and replies, and values described without their bytes."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
LineNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
Byte: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=255)]


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen record that travels as JSON with its type under "type"."""


class StorageSpec(Message, frozen=True):
    """A block of raw bytes in an arena file, 256-byte aligned; all tensors of a case view such blocks."""

    offset: Count
    bytes: Count


class TensorSpec(Message, tag_field="kind", tag="tensor", frozen=True):
    """A tensor: a strided view, in elements, of storage number `storage` of its arena."""

    storage: Count
    dtype: str
    shape: tuple[Count, ...]
    strides: tuple[int, ...]
    first: Count


class ScalarSpec(Message, tag_field="kind", tag="scalar", frozen=True):
    """A bool, int, str or None."""

    value: bool | int | str | None


class FloatSpec(Message, tag_field="kind", tag="float", frozen=True):
    """A float in hexadecimal, which JSON cannot round and which knows nan and inf."""

    hex: str


class DTypeSpec(Message, tag_field="kind", tag="dtype", frozen=True):
    """A torch.dtype by its name."""

    name: str


class SequenceSpec(Message, tag_field="kind", tag="sequence", frozen=True):
    """A list or tuple of values."""

    items: tuple[ValueSpec, ...]
    is_tuple: bool


ValueSpec: TypeAlias = TensorSpec | ScalarSpec | FloatSpec | DTypeSpec | SequenceSpec


class Command(Message, tag_field="type", frozen=True):
    """What every command carries: the id that its reply must repeat."""

    id: str


class ReturnedSpec(Message, frozen=True):
    """One value that the entry returned: a tensor's bytes in the outputs file, or the name of another type."""

    type_name: str
    dtype: str = ""
    shape: tuple[Count, ...] = ()
    offset: Count = 0
    bytes: Count = 0


class Reply(Message, tag_field="type", frozen=True):
    """What every reply carries: the id of its command."""

    id: str


class Done(Reply, tag="done", frozen=True):
    """The command was carried out and has nothing else to tell."""
