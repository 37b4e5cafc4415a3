"""Content on a tape that no kernel made: how much of an answer operators may have computed, and its description."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from engine.model.counts import counted
from engine.protocol.monitoring import ADDRESSING, LIGHT, LOOKING_UP, MOVING, PLACING, TABULATING
from engine.protocol.proof.tape import Given, Tape

_COPYING = ("copy_", "fill_", "resolve_conj")  # whose types, or lazy bits, a tape does not replay
_ASSISTING = LIGHT | frozenset((*LOOKING_UP, *MOVING, *_COPYING))


@dataclass(frozen=True, kw_only=True)
class AnswerKind:
    """The kind of content that the answer of a case has.

    Integers that torch computed are no part of one that `has_fractions`; moves of elements are the work of one that
    is a rearrangement of the arguments' elements.
    """

    has_fractions: bool = False
    is_rearrangement: bool = False


ANY_ANSWER = AnswerKind()


class Weight(enum.IntEnum):
    """Work of an operator: integers for addresses, what honest host code does to elements, or more than that."""

    ADDRESSES = 0
    ASSISTS = 1
    COMPUTES = 2


def weight_of(step: Given, answer: AnswerKind) -> Weight:
    """The work of the operator of a step, as a part of this kind of answer."""
    name = step.operator.rpartition("::")[2].partition(".")[0]
    addressing = TABULATING | (PLACING if answer.is_rearrangement else ADDRESSING)
    if answer.has_fractions and step.integers and name in addressing:
        return Weight.ADDRESSES
    if answer.is_rearrangement and not step.integers and name in MOVING:
        return Weight.COMPUTES
    return Weight.ASSISTS if name in _ASSISTING else Weight.COMPUTES


def memory_bytes(tape: Tape, step: Given) -> int:
    """The bytes of the memory that an operator took and made."""
    return sum(tape.storages[storage].bytes for storage in (step.storage, *step.reads))


def describe_work(step: Given, answer: AnswerKind) -> str:
    """The operator of a step with its line; integers are called so only where they are addresses."""
    is_address = weight_of(step, answer) is Weight.ADDRESSES
    shown = step if is_address else msgspec.structs.replace(step, integers=False)
    return f"{shown.work}{_at(step.line)}"


def describe_memory(tape: Tape, steps: Iterable[Given]) -> str:
    """Size and line of memory of unknown origin, and of memory that operators made from no argument of the call."""
    unknown, made = [], []
    for step in dict.fromkeys(steps):
        size = counted(tape.storages[step.storage].bytes, "byte")
        if step.operator:
            made.append(f"{size} by {step.operator}{_at(step.line)}")
        else:
            unknown.append(f"{size}{_at(step.line)}")
    kinds = {"memory of unknown origin": unknown, "a constant that torch made": made}
    return ", and ".join(f"{kind}: {'; '.join(parts)}" for kind, parts in kinds.items() if parts)


def origins_of(steps: Iterable[Given]) -> tuple[str, ...]:
    """Where memory came from, without its sizes: operators and lines."""
    return tuple(sorted({f"{step.operator}{_at(step.line)}" for step in steps}))


def _at(line: int | None) -> str:
    return f" (line {line})" if line is not None else ""
