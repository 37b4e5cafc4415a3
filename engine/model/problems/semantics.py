"""Properties of an operator's answer, and the part of the work that a candidate may leave to the framework."""

from __future__ import annotations

import enum


class Determinism(enum.StrEnum):
    """How many answers to one input are right.

    EXACT: one, bit for bit.  ROUNDING: one, up to the rounding of its arithmetic.  ORDER_FREE: several, that differ in
    an order that the operator does not specify (ties, duplicates).  RANDOM: any that follows a distribution.
    UNSPECIFIED: any of the right shape and dtype, as of an allocation.
    """

    EXACT = "exact"
    ROUNDING = "rounding"
    ORDER_FREE = "order_free"
    RANDOM = "random"
    UNSPECIFIED = "unspecified"

    @property
    def has_one_answer(self) -> bool:
        """Whether the distance to the reference measures the error of an output."""
        return self in (Determinism.EXACT, Determinism.ROUNDING)


class ReturnedMemory(enum.StrEnum):
    """Where a returned tensor may lie.

    ANY: anywhere.  NEW: in memory that no argument has.  WRITTEN: it is the first argument that is written in place.
    CONTIGUOUS: anywhere, with contiguous strides.
    """

    ANY = "any"
    NEW = "new"
    WRITTEN = "written"
    CONTIGUOUS = "contiguous"


class Rearrangement(enum.StrEnum):
    """Whether an answer consists only of the elements of the arguments in other places, or of copies of them.

    BY_POSITIONS: integers of the arguments, such as indices, choose the places.  BY_ORDER: the elements themselves do.
    BY_CONTENT is for problems for which only the content of an answer shows it, and SUMMED_BY_POSITIONS for those whose
    elements integers place, and arithmetic may change, as in sums: there the content has to show it, too.
    """

    YES = "yes"
    BY_POSITIONS = "by positions"
    BY_ORDER = "by order"
    NO = "no"
    BY_CONTENT = "by content"
    SUMMED_BY_POSITIONS = "summed by positions"

    @property
    def is_certain(self) -> bool:
        """Whether the answer is a rearrangement for any content."""
        return self in (Rearrangement.YES, Rearrangement.BY_POSITIONS, Rearrangement.BY_ORDER)


class FrameworkWork(enum.StrEnum):
    """Kinds of work that a candidate may leave to PyTorch, so that it needs no kernel for them.

    VIEWS: shape, strides or offset of an existing tensor.  METADATA: a number or flag that is known without reading the
    elements.  COPIES: plain copies, casts and fills.  ALLOCATION: new memory whose content is not specified.
    """

    VIEWS = "views"
    METADATA = "metadata"
    COPIES = "copies"
    ALLOCATION = "allocation"
