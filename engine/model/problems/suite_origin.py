"""Origin of a problem in a foreign suite: its data beyond the contract."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from engine.model.problems.form import CandidateForm

FP4 = "float4_e2m1fn_x2"
"""Torch's type of two fp4 values in a byte, the first one in the low bits; it has no conversions and no arithmetic."""


class Precision(enum.StrEnum):
    """Precision in which a reference computes: that of the task, float64, or one step below that of the task."""

    OWN = "own"
    DOUBLE = "double"
    LOWER = "lower"


@dataclass(frozen=True, kw_only=True)
class SuiteOrigin:
    """The suite of a foreign problem, whose reference runs in a separate process.

    `form` is that of a candidate's entry.  `own_rule` is the suite's rule of comparison in a sentence; it is shown and
    decides nothing.  `notes` are particularities of the problem, and `changes` its differences from that of the suite,
    such as sizes.  `refusal` is why it can verify nothing, "" if it can.  `category` and `level` are the suite's own.
    `signature` is what a candidate defines, in the words of the suite; that of the problem also has the arguments for
    weights.  `modules` are names and texts of files that a candidate may import, such as "utils.py".  `fp4` are the
    arguments that are bytes in the problem and that a candidate gets as FP4.
    """

    suite: str
    form: CandidateForm
    own_rule: str
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    refusal: str = ""
    category: str = ""
    level: str = ""
    signature: str = ""
    modules: tuple[tuple[str, str], ...] = ()
    fp4: tuple[str, ...] = ()
