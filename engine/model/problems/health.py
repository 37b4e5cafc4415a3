"""Defects of a problem that an audit finds.  Values only."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Defect(enum.StrEnum):
    """Kind of defect of a problem."""

    REFERENCE_FAILS = "reference fails"
    UNSEEDED = "unseeded"
    INPUT_INDEPENDENT = "input-independent"
    ALL_ZERO = "all-zero outputs"
    CONSTANT = "constant outputs"
    ZEROS_PASS = "zeros pass"
    SMALL_SPREAD = "small spread"
    LOOSE = "loose threshold"
    UNREACHABLE = "unreachable threshold"
    SHORT_CUT = "algebraic short cut"
    LOOSE_OWN_RULE = "loose own rule"
    UNREACHABLE_OWN_RULE = "unreachable own rule"

    @property
    def is_of_own_rule(self) -> bool:
        """Whether it is a defect of a suite's own rule, on which no verdict of kgtui depends."""
        return self in (Defect.LOOSE_OWN_RULE, Defect.UNREACHABLE_OWN_RULE)


@dataclass(frozen=True, kw_only=True)
class Weakness:
    """A defect and the sentence with its evidence."""

    defect: Defect
    text: str
