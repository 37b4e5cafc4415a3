"""A candidate in a benchmark: its worker, how to get another one, and which kernels are its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from engine.model import Launch
from engine.timing.exchange import Side
from engine.timing.kernel_times import KernelSource
from engine.verdict.native_symbols import NativeKernels

_NO_NATIVE = NativeKernels()


class CandidateSide(Side, Protocol):
    """A worker with a candidate, which knew before loading it what it can measure."""

    @property
    def unrecorded(self) -> str:
        """Why the worker cannot read the device's activity record; "" if it can."""
        ...


Reload = Callable[[], Awaitable[CandidateSide | None]]
"""Starts a new worker with the candidate loaded; returns None if that is impossible."""


@dataclass(frozen=True, kw_only=True)
class OwnKernels:
    """The kernels that are known to be the candidate's.

    `launches` are those of a case by its name, `names` those that it launched in other cases, `native` those that its
    CUDA text defines.  With a `source` the launches of each case are timed separately, too.
    """

    launches: Callable[[str], tuple[Launch, ...]] = lambda _: ()
    names: frozenset[str] = frozenset()
    native: NativeKernels = _NO_NATIVE
    source: KernelSource | None = None


@dataclass(frozen=True, kw_only=True)
class TimedCandidate:
    """A loaded worker; without `reload` it is not replaced when it exits."""

    side: CandidateSide
    reload: Reload | None = None
    kernels: OwnKernels = OwnKernels()


class TimedWorker:
    """The current worker of a candidate: None once it has exited."""

    def __init__(self, candidate: TimedCandidate) -> None:
        self.side: CandidateSide | None = candidate.side
        self._reload = candidate.reload

    async def refill(self) -> None:
        """Replace an exited worker if possible."""
        if self.side is None and self._reload is not None:
            self.side = await self._reload()
