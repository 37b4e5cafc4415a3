"""Proof of a case: its tape gave the right answer on content that the candidate never had.

Only records.  The policy determines the effect of a gap on the verdict.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Gap(enum.StrEnum):
    """Why a case is not proven.

    TORCH_LIGHT are operators that honest host code has too: element-wise arithmetic, sums, look-ups and moves.
    """

    TORCH = "torch computes"
    TORCH_LIGHT = "torch assists"
    MEMORY = "memory of unknown origin"
    NOT_REPRODUCED = "answer not reproduced"
    OTHER_INPUTS = "wrong on other inputs"
    OTHER_OUTPUTS = "outputs not reproduced"
    NO_LAUNCH = "no launch"
    NUMBERS = "answer passed as numbers"
    SCALAR = "scalar depends on data"
    HOST_READS = "host reads results"
    UNSTEADY = "calls differ"
    UNSUPPORTED = "unsupported"
    ENGINE = "engine failed"


COMPUTED_ELSEWHERE = frozenset({Gap.TORCH, Gap.MEMORY, Gap.NOT_REPRODUCED, Gap.NUMBERS})
"""The gaps of an answer, or a part of one, that something other than the kernels computed."""


@dataclass(frozen=True, kw_only=True)
class CaseProof:
    """Proof of a case, or the `gap` and its `reason`, which are None and "" if it is proven.

    `moved_bytes` were written by operators that only move or fill; `constants` names the memory of unknown origin whose
    content the answer was computed with.  `constant_bytes` is its size without repeated bytes, and `answer_bytes` that
    of the outputs; both are 0 if no such memory was used.  `origins` are the operators and lines that it came from.
    """

    case: str
    gap: Gap | None = None
    reason: str = ""
    moved_bytes: int = 0
    constants: str = ""
    constant_bytes: int = 0
    answer_bytes: int = 0
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.gap is None) == bool(self.reason):
            raise ValueError(f"{self.case}: a case with the gap {self.gap} cannot have the reason {self.reason!r}")

    @property
    def proven(self) -> bool:
        """Whether the case is proven."""
        return self.gap is None


@dataclass(frozen=True, kw_only=True)
class ReplayedCase:
    """A case of a proof file, replayed: proven if it is right on the recorded inputs and on new ones.

    The other fields are what was reproduced bit for bit with the recorded seed: other versions of torch may draw other
    inputs from it, or round a reference otherwise.
    """

    proof: CaseProof
    same_inputs: bool = False
    same_expected: bool = False
    same_outputs: bool = False
