"""tl.reduce and tl.associative_scan by a kernel's own function, on whole blocks at once.

Triton's interpreter calls such a function for one pair of numbers after another, which takes a thousand times as long
as the function of a library: an honest kernel would run into the deadlines of who judges it.  Here neighbours are
combined in pairs, then the pairs, in their order, as associative functions allow and devices do.  A function that asks
a number for yes or no has no answer for a block, and is called as Triton does.  Patches the interpreter for triton 3.6
to 3.9; never used outside a worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter

# Triton's interpreter is not typed: what is taken from it or handed to it is Any throughout this file.


class _OneByOneError(Exception):
    """This function cannot be asked about blocks."""


def install() -> None:
    """Have reductions and scans that are interpreted from now on combine blocks."""
    reducing, scanning = triton_interpreter.ReduceOps, triton_interpreter.ScanOps
    reducing.generic_reduce = _where_it_can(_reduced, reducing.generic_reduce)
    scanning.generic_scan = _where_it_can(_scanned, scanning.generic_scan)


def _where_it_can(blockwise: Callable[..., Any], one_by_one: Callable[..., Any]) -> Callable[..., Any]:
    def combined(operation: Any, given: Any) -> Any:
        try:
            with _refusing_questions():
                return blockwise(operation, given)
        except Exception:  # of a stranger's function: called for numbers, it fails again if the fault is its own
            return one_by_one(operation, given)

    return combined


@contextlib.contextmanager
def _refusing_questions() -> Iterator[None]:
    """Within, a block is neither true nor false; Triton's interpreter says true."""
    answers = tl.tensor.__bool__

    def answer(value: Any) -> Any:
        if value.handle.data.size > 1:
            raise _OneByOneError
        return answers(value)

    tl.tensor.__bool__ = answer
    try:
        yield
    finally:
        tl.tensor.__bool__ = answers


def _reduced(operation: Any, given: Any) -> list[Any]:
    axis = operation.axis
    blocks = [one.handle.data if axis is not None else one.handle.data.reshape(-1) for one in given]
    along, dtypes = axis or 0, [one.dtype for one in given]
    while blocks[0].shape[along] > 1:
        first, second, last = _pairs(blocks, along)
        paired = _combined(operation, first, second, dtypes)
        blocks = [np.concatenate(both, axis=along) for both in zip(paired, last, strict=True)]
    if axis is not None and not operation.keep_dims:
        blocks = [block.squeeze(along) for block in blocks]
    elif axis is None:
        shape = (1,) * len(given[0].handle.data.shape) if operation.keep_dims else ()
        blocks = [block.reshape(shape) for block in blocks]
    return [operation.to_tensor(block, dtype) for block, dtype in zip(blocks, dtypes, strict=True)]


def _scanned(operation: Any, given: Any) -> list[Any]:
    dtypes = [one.dtype for one in given]
    axis = operation.axis % len(given[0].handle.data.shape)

    def scanned(blocks: Sequence[Any]) -> list[Any]:
        if blocks[0].shape[axis] == 1:
            return list(blocks)
        first, second, last = _pairs(blocks, axis)
        odd = scanned(_combined(operation, first, second, dtypes))
        later = [np.concatenate(both, axis=axis) for both in zip(first, last, strict=True)]
        later = [_cut(block, axis, 1, None) for block in later]
        before = [_cut(block, axis, 0, later[0].shape[axis]) for block in odd]
        even = _combined(operation, before, later, dtypes) if later[0].shape[axis] else later
        return [_woven(*three, axis) for three in zip(blocks, odd, even, strict=True)]

    scans = scanned([one.handle.data for one in given])
    return [operation.to_tensor(scan, dtype) for scan, dtype in zip(scans, dtypes, strict=True)]


def _pairs(blocks: Sequence[Any], axis: int) -> tuple[list[Any], list[Any], list[Any]]:
    """The first of every pair of neighbours, the second of every pair, and what has no neighbour."""
    even = blocks[0].shape[axis] // 2 * 2
    first = [_cut(block, axis, 0, even, 2) for block in blocks]
    second = [_cut(block, axis, 1, even, 2) for block in blocks]
    return first, second, [_cut(block, axis, even, None) for block in blocks]


def _cut(block: Any, axis: int, start: int, stop: int | None, step: int = 1) -> Any:
    return block[(slice(None),) * axis + (slice(start, stop, step),)]


def _woven(source: Any, odd: Any, even: Any, axis: int) -> Any:
    """A scan by its parts: its first element is the source's."""
    scan = source.copy()
    _cut(scan, axis, 1, None, 2)[...] = odd
    _cut(scan, axis, 2, None, 2)[...] = even
    return scan


def _combined(operation: Any, left: Sequence[Any], right: Sequence[Any], dtypes: Sequence[Any]) -> list[Any]:
    taken = [
        operation.to_tensor(block, dtype) for block, dtype in zip((*left, *right), (*dtypes, *dtypes), strict=True)
    ]
    made = operation.combine_fn.fn(*taken)
    blocks = []
    for one, dtype, like in zip(made if isinstance(made, tuple) else (made,), dtypes, left, strict=True):
        if not isinstance(one, tl.core.tensor) or one.dtype != dtype or one.handle.data.shape != like.shape:
            raise _OneByOneError
        blocks.append(one.handle.data)
    return blocks
