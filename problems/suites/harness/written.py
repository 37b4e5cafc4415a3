"""Tensors among the arguments that a reference writes in place, found by running it on copies of a case's arguments.

A tensor that is written without being read gets other content before a candidate sees it: a buffer that a test
allocates may still hold the answer of an earlier call in the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from problems.suites.harness.values import copied, leaves, tensors_of

Compute: TypeAlias = Callable[[Any], object]  # Any: the arguments of an untrusted function

_POISON = 7.0
_POISON_OF_INTEGERS = 1  # usually a valid index, in case the content is used as one


@dataclass(frozen=True, kw_only=True)
class Effects:
    """Indices of tensors in the order of `leaves`: those `written` in place, and those whose content is `unread`."""

    written: tuple[int, ...]
    unread: tuple[int, ...]

    def poison(self, arguments: object) -> None:
        """Overwrite elements that are not read, in place."""
        found = leaves(arguments)
        for number in self.unread:
            _overwrite(found[number])

    def written_in(self, arguments: object) -> tuple[tuple[int, torch.Tensor], ...]:
        """The written tensors, each preceded by its index."""
        found = leaves(arguments)
        return tuple((number, found[number]) for number in self.written)


def effects_of(compute: Compute, arguments: object, *, has_buffers: bool = False) -> Effects:
    """The written and unread tensors in a run of the reference on these arguments, which are not changed.

    With `has_buffers` a tensor that is not written may be an output buffer: an unread tensor with the shape and dtype
    of an output is included.
    """
    results, written = _run(compute, copied(arguments))
    kinds = {(result.shape, result.dtype) for result in results if has_buffers}
    unread = []
    for number, leaf in enumerate(leaves(arguments)):
        if number in written or ((leaf.shape, leaf.dtype) in kinds and leaf.is_floating_point()):
            given = copied(arguments)
            _overwrite(leaves(given)[number])
            if _has_results(compute, given, results, written):
                unread.append(number)
    return Effects(written=tuple(written), unread=tuple(unread))


def _run(compute: Compute, given: object) -> tuple[list[torch.Tensor], list[int]]:
    """The tensors that a call returns, then those that it writes, and the indices of the latter."""
    before = [(leaf._version, leaf.clone()) for leaf in leaves(given)]
    with torch.no_grad():
        returned = compute(given)
    after = leaves(given)
    written = [
        number
        for number, ((version, content), leaf) in enumerate(zip(before, after, strict=True))
        # A Triton kernel writes without changing the version; an operation of torch may write equal content.
        if leaf._version != version or not _same(content, leaf)
    ]
    results = [] if returned is None else list(tensors_of(returned))
    return [*results, *(after[number] for number in written)], written


def _has_results(compute: Compute, given: object, wanted: list[torch.Tensor], written: list[int]) -> bool:
    """Whether a call on other content has bitwise equal results; False if it fails."""
    try:
        results, again = _run(compute, given)
    except Exception:  # the suite's code, on content for which it was not written
        return False
    return again == written and len(results) == len(wanted) and all(map(_same, results, wanted))


def _overwrite(tensor: torch.Tensor) -> None:
    is_integer = not (tensor.is_floating_point() or tensor.is_complex())
    tensor.fill_(_POISON_OF_INTEGERS if is_integer else _POISON)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have the same shape, dtype and bytes."""
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    first, second = (part.detach().reshape(-1).contiguous().view(torch.uint8) for part in (one, other))
    return bool(torch.equal(first, second))
