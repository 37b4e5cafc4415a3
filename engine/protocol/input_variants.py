"""Commands and replies of unusual content: the judge lays out other inputs, or reports that none are suitable."""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.protocol.messages import Byte, CaseCommand, Reply, Text, Word
from engine.protocol.verifying import ArenaSpec


class Variant(enum.StrEnum):
    """Kind of unusual content, in the words of a sentence."""

    MOVED = "the same content in other memory"
    PERMUTED = "the same content in another order"
    ONE_ELEMENT = "the content of the call before but for one element"
    SCALED = "rows of many scales and both signs"
    EVEN = "rows of one value among others"
    EQUAL = "one value throughout"
    ORDERED = "negative values in order"
    TINY = "tiny values"
    LARGE = "large values"


class LayOutVariant(CaseCommand, tag="lay_out_variant", frozen=True):
    """Lay this variant out for the prepared case, poisoned again.

    MOVED is the content of the prepared case in a new file at `arena_path`, or at another place of device memory when
    none is given.  ONE_ELEMENT is made from the content of the previous call, all other variants from the prepared one.
    """

    variant: Variant
    poison: Byte
    arena_path: str | None = None


class PrepareVariant(CaseCommand, tag="prepare_variant", frozen=True):
    """Make the content of the next variant while the worker is called on the current one."""

    variant: Variant


class VariantLaidOut(Reply, tag="variant_laid_out", frozen=True):
    """The content is in `arena`, unless `dismissed` is the reason why it cannot decide about a candidate.

    `changed` is the element of ONE_ELEMENT, `kept` names the tensors that no variant changes.
    """

    arena: ArenaSpec
    dismissed: Text = ""
    changed: Text = ""
    kept: Annotated[tuple[Word, ...], msgspec.Meta(max_length=64)] = ()
