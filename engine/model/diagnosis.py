"""Diagnoses of wrong outputs, and the input elements they depend on.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class DiagnosisKind(enum.StrEnum):
    """A pattern of a wrong output."""

    UNWRITTEN_OUTPUT = "unwritten_output"
    TAIL_MASK = "tail_mask"
    TRANSPOSED_INDEX = "transposed_index"
    WRONG_STRIDE = "wrong_stride"
    MISSING_SCALE = "missing_scale"
    MISSING_BIAS = "missing_bias"
    REDUCTION_IDENTITY = "reduction_identity"
    LOST_RESCALE = "lost_rescale"
    OVERFLOW = "overflow"
    PRECISION = "precision"
    ROUNDING_MODE = "rounding_mode"
    RACE = "race"
    IGNORED_ARGUMENT = "ignored_argument"
    KEPT_ANSWER = "kept_answer"
    OLD_CONTENT = "old_content"
    ZEROED = "zeroed"
    DROPPED_NAN = "dropped_nan"
    MISSING_NAN = "missing_nan"
    KEPT_NAN = "kept_nan"
    WRONG_COMPARISON = "wrong_comparison"
    ZERO_SIGN = "zero_sign"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """A pattern of a wrong output and how well it fits: an interpretation of numbers, never a verdict.

    Of the `wrong` elements, `explained` have the value that this mistake produces; `contradicted` right elements do
    not.
    """

    kind: DiagnosisKind
    sentence: str
    evidence: str
    explained: int
    wrong: int
    contradicted: int = 0

    @property
    def confidence(self) -> str:
        """How well it fits, in words."""
        fit = "explains all wrong elements"
        if self.explained < self.wrong:
            fit = f"explains {100 * self.explained // self.wrong} % of the wrong elements"
        return f"{fit}, contradicted by {self.contradicted:,} correct elements" if self.contradicted else fit


@dataclass(frozen=True, kw_only=True)
class InputElement:
    """One element of an argument; the value as text, so that nan and inf survive."""

    argument: str
    index: tuple[int, ...]
    value: str


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Possible causes of a wrong output.

    `diagnoses`, the best first, are empty when no hypothesis fits.  `feeds` are elements of the arguments that the
    worst element depends on by the reference, the most influential first; `feeding` is their total number, None if it
    was not counted.  `untried` is the reason why a hypothesis was not tested.
    """

    diagnoses: tuple[Diagnosis, ...] = ()
    feeds: tuple[InputElement, ...] = ()
    feeding: int | None = None
    untried: str = ""
