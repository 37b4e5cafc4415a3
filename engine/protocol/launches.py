"""Bounds of workers' records of launches and of out-of-bounds accesses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence, Sized
from typing import Annotated, TypeAlias

import msgspec

from engine.model import Launch, OutOfBounds, Traffic
from engine.protocol.messages import MOST_NUMBER, MOST_TEXT, MOST_WORD

MOST_LAUNCHES = 512
"""Of launches in one reply, which is one line of limited length."""
_MOST_SOURCE = 1 << 21  # characters of generated sources in one reply

Launches: TypeAlias = Annotated[tuple[Launch, ...], msgspec.Meta(max_length=MOST_LAUNCHES)]

MOST_ACCESSES, MOST_OPERATIONS = 64, 64
"""Of one launch: loads, stores and atomics whose traffic is reported, and kinds of operations."""

_MOST_ARGUMENTS, _MOST_AXES = 1024, 16


def number_that_fits(launches: Sequence[Launch]) -> int:
    """Number of these launches, from the first on, that fit into one reply."""
    sizes = itertools.accumulate(len(launch.generated_source) for launch in launches[:MOST_LAUNCHES])
    return sum(1 for _ in itertools.takewhile(lambda size: size <= _MOST_SOURCE, sizes))


def require_small_enough(launches: Iterable[Launch], access: OutOfBounds | None = None) -> None:
    """Bound numbers, texts and lists that the record types leave unbounded.

    Raises:
        ValueError: one is larger than in any real launch.
    """
    for launch in launches:
        _bound_numbers(launch.num_warps, launch.num_stages, launch.line, launch.count, *launch.grid)
        _bound_lengths(launch.grid, most=_MOST_AXES)
        _bound_lengths(launch.kernel, launch.closure, *launch.divisible_by_16, most=MOST_WORD)
        _bound_lengths(launch.generated_source, most=MOST_TEXT)
        _bound_lengths(launch.divisible_by_16, most=_MOST_ARGUMENTS)
        for texts in (launch.signature, launch.constants, launch.options):
            _bound_lengths(texts, most=_MOST_ARGUMENTS)
            _bound_lengths(*texts, most=MOST_WORD)
            _bound_lengths(*texts.values(), most=MOST_TEXT)
        if launch.traffic is not None:
            _bound_traffic(launch.traffic)
    if access is not None:
        place = (access.location.line, access.location.column or 1) if access.location is not None else ()
        _bound_numbers(access.index, access.elements, *access.program, *place)
        _bound_lengths(access.access, access.kernel, access.tensor, most=MOST_WORD)


def _bound_traffic(traffic: Traffic) -> None:
    _bound_numbers(traffic.programs, *traffic.operations.values())
    _bound_lengths(traffic.accesses, most=MOST_ACCESSES)
    _bound_lengths(traffic.operations, most=MOST_OPERATIONS)
    _bound_lengths(*traffic.operations, most=MOST_WORD)
    for one in traffic.accesses:
        _bound_numbers(one.executions, one.requested_bytes, one.distinct_bytes, one.sectors, one.line or 0)
        _bound_lengths(one.tensors, most=_MOST_ARGUMENTS)
        _bound_lengths(*one.tensors, most=MOST_WORD)


def _bound_numbers(*numbers: int) -> None:
    if any(abs(number) > MOST_NUMBER for number in numbers):
        raise ValueError(f"a launch with a number beyond {MOST_NUMBER}")


def _bound_lengths(*parts: Sized, most: int) -> None:
    if any(len(part) > most for part in parts):
        raise ValueError(f"a launch with a text or a list longer than {most}")
