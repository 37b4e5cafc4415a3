"""tl.reduce and tl.associative_scan by a kernel's own function, on whole blocks at once.

Triton's interpreter calls such a function for one pair of numbers after another, a thousand times slower than a library
function: an honest kernel would exceed the deadlines.  Here neighbours are combined in pairs, then the pairs, in their
order, as associative functions allow and devices do.  A function that branches on a value cannot be applied to a block,
and is called as Triton does.  Patches the interpreter for triton 3.6 to 3.9; never used outside a worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter

# Triton's interpreter is not typed: its arguments and results are Any throughout this file.


class _OneByOneError(Exception):
    """This function cannot be applied to blocks."""


def install() -> None:
    """Have interpreted reductions and scans combine blocks from now on."""
    reducing, scanning = triton_interpreter.ReduceOps, triton_interpreter.ScanOps
    reducing.generic_reduce = _where_it_can(_reduced, reducing.generic_reduce)
    scanning.generic_scan = _where_it_can(_scanned, scanning.generic_scan)
    reducing.apply_impl = _with_nan(reducing.apply_impl)


def _with_nan(apply: Callable[..., Any]) -> Callable[..., Any]:
    """The position of the largest number by the kernel's own comparison if there are NaN, which numpy cannot order."""
    standard = tl.standard
    placing = (
        standard._argmin_combine_tie_break_left,
        standard._argmin_combine_tie_break_fast,
        standard._argmax_combine_tie_break_left,
        standard._argmax_combine_tie_break_fast,
    )

    def applied(operation: Any, given: Any) -> Any:
        numbers = given[0].handle.data
        is_placing = any(operation.combine_fn is one for one in placing)
        if is_placing and numbers.dtype.kind == "f" and np.isnan(numbers).any():
            return operation.generic_reduce(given)
        return apply(operation, given)

    return applied


def _where_it_can(blockwise: Callable[..., Any], one_by_one: Callable[..., Any]) -> Callable[..., Any]:
    def combined(operation: Any, given: Any) -> Any:
        try:
            with _block_truth_is_error():
                return blockwise(operation, given)
        except Exception:  # an error of the candidate's function itself is raised again with numbers
            return one_by_one(operation, given)

    return combined


@contextlib.contextmanager
def _block_truth_is_error() -> Iterator[None]:
    """Context in which the truth value of a block is an error; Triton's interpreter takes it for true."""
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
        blocks = _combined(operation, _every_second(blocks, along, 0), _every_second(blocks, along, 1), dtypes)
    if axis is not None and not operation.keep_dims:
        blocks = [block.squeeze(along) for block in blocks]
    elif axis is None:
        shape = (1,) * len(given[0].handle.data.shape) if operation.keep_dims else ()
        blocks = [block.reshape(shape) for block in blocks]
    return [operation.to_tensor(block, dtype) for block, dtype in zip(blocks, dtypes, strict=True)]


def _scanned(operation: Any, given: Any) -> list[Any]:
    dtypes = [one.dtype for one in given]
    scans = _scan(operation, [one.handle.data for one in given], dtypes)
    return [operation.to_tensor(scan, dtype) for scan, dtype in zip(scans, dtypes, strict=True)]


def _scan(operation: Any, blocks: Sequence[Any], dtypes: Sequence[Any]) -> list[Any]:
    axis = operation.axis
    if blocks[0].shape[axis] == 1:
        return list(blocks)
    first, second = _every_second(blocks, axis, 0), _every_second(blocks, axis, 1)
    odd = _scan(operation, _combined(operation, first, second, dtypes), dtypes)
    # Whole blocks, since their sizes are powers of two; the element rolled in at the front is discarded.
    even = _combined(operation, [np.roll(block, 1, axis) for block in odd], first, dtypes)
    return [_interleaved(*three, axis) for three in zip(blocks, even, odd, strict=True)]


def _every_second(blocks: Sequence[Any], axis: int, start: int) -> list[Any]:
    return [_cut(block, axis, start) for block in blocks]


def _cut(block: Any, axis: int, start: int) -> Any:
    """Every second element along an axis from `start` on, as a view."""
    return block[tuple(slice(start, None, 2) if axis % block.ndim == one else slice(None) for one in range(block.ndim))]


def _interleaved(source: Any, even: Any, odd: Any, axis: int) -> Any:
    """A scan interleaved from its two halves; its first element is the source's."""
    scan = np.empty_like(source)
    _cut(scan, axis, 0)[...], _cut(scan, axis, 1)[...] = even, odd
    np.moveaxis(scan, axis, 0)[0] = np.moveaxis(source, axis, 0)[0]
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
