"""The calls that verify a case: with which poison, on which content, and which of them leave a tape.

Every case is called twice on the same content with different poison, and SMOKE cases a third time with new content in
the same storage, where an answer that was kept from before is wrong.  On a device, where a call takes microseconds,
every case gets that third call.  A proof compares tapes of two contents: the last calls on each leave one.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.model import Case, Tier

# 0xFF makes nan of every float and -1 of every integer; 0x7B makes large finite numbers of both.
_POISONS = (0xFF, 0x7B)


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """One call of a case; `fresh` is whether on new content or on that of the call before."""

    poison: int
    fresh: bool = False
    is_taped: bool = False


_TWICE = (PlannedCall(poison=_POISONS[0]), PlannedCall(poison=_POISONS[1], is_taped=True))
_AND_FRESH = (*_TWICE, PlannedCall(poison=_POISONS[0], fresh=True, is_taped=True))
FIRST_POISON = _POISONS[0]


def calls_of(case: Case, *, on_cpu: bool) -> tuple[PlannedCall, ...]:
    """The calls of a case, in their order."""
    return _TWICE if on_cpu and case.tier is not Tier.SMOKE else _AND_FRESH
