"""Withholds launches: the candidate's own kernels become no-ops for one call, one by one or all together.

Both kinds of launches check here first, from wrappers that were installed before the candidate was loaded, so that a
launcher that it keeps a reference to is covered as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from engine import protocol
from engine.worker.launches import moves


class Withholding:
    """The launches of this process to withhold now, and how many were."""

    def __init__(self) -> None:
        self._withhold: protocol.Withhold | None = None
        self._counts: dict[protocol.Kernel, list[int]] = {}
        self._case: tuple[torch.Tensor, ...] = ()

    @contextlib.contextmanager
    def during(self, withhold: protocol.Withhold | None, *, case: Iterable[torch.Tensor] = ()) -> Iterator[None]:
        """Context in which these launches are withheld; None withholds, and counts, nothing.

        `case` are the storages of the case, as bytes.
        """
        self._withhold, self._case = withhold, tuple(case)
        self._counts.clear()
        try:
            yield
        finally:
            self._withhold = None

    def withholds(self, function: Callable[..., Any]) -> bool:  # Any: kernels take everything
        """Whether a launch of the plain Python function `function` of a kernel is to be skipped."""
        if self._withhold is None:
            return False
        kernel = protocol.Kernel(name=function.__name__, line=function.__code__.co_firstlineno)
        withheld = not self._withhold.look and (not self._withhold.kernels or kernel in self._withhold.kernels)
        counts = self._counts.setdefault(kernel, [0, 0, 0])
        counts[0] += 1
        counts[1] += withheld
        return withheld

    @contextlib.contextmanager
    def launching(self, function: Callable[..., Any], values: Iterable[object]) -> Iterator[None]:
        """Context of a launch that checks whether it only moved data; only in a call with `look`."""
        if self._withhold is None or not self._withhold.look:
            yield
            return
        look = moves.before(values, case=self._case if self._withhold.may_copy_case else ())
        yield
        kernel = protocol.Kernel(name=function.__name__, line=function.__code__.co_firstlineno)
        self._counts.setdefault(kernel, [0, 0, 0])[2] += moves.only_moved(look)

    def take_ledger(self) -> tuple[protocol.Withheld, ...]:
        """Counts of the last block, reported once."""
        ledger = tuple(
            protocol.Withheld(kernel=kernel, launches=launches, withheld=withheld, moved=moved)
            for kernel, (launches, withheld, moved) in list(self._counts.items())[: protocol.MOST_KERNELS]
        )
        self._counts.clear()
        return ledger
