"""Commands and replies of unusual content: the judge lays out another content, or reports that it would be unfair."""

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

    MOVED goes to a new file at `arena_path`, or to another place in device memory when none is given; it is
    the content that the case was prepared with.  ONE_ELEMENT is made of the content of the call before, every
    other variant of the prepared one.
    """

    variant: Variant
    poison: Byte
    arena_path: str | None = None


class PrepareVariant(CaseCommand, tag="prepare_variant", frozen=True):
    """Make the content of the variant that will be laid out next, while the worker is called on the one before."""

    variant: Variant


class VariantLaidOut(Reply, tag="variant_laid_out", frozen=True):
    """The content is in `arena`, unless `dismissed` is the reason why no candidate could be verified with it.

    `changed` is the element of ONE_ELEMENT, `kept` names the tensors that no variant changes.
    """

    arena: ArenaSpec
    dismissed: Text = ""
    changed: Text = ""
    kept: Annotated[tuple[Word, ...], msgspec.Meta(max_length=64)] = ()
