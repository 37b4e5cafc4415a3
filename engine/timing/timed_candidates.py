"""A candidate that takes part in a benchmark: its worker, how to get another one, and which kernels are its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from engine.model import Launch
from engine.timing.exchange import Side
from engine.timing.kernel_times import KernelSource
from engine.verdict.native_symbols import NativeKernels

_NO_NATIVE = NativeKernels()

Reload = Callable[[], Awaitable[Side | None]]
"""A new worker with the candidate loaded, or None when there is none to be had."""


@dataclass(frozen=True, kw_only=True)
class OwnKernels:
    """The kernels that are known to be the candidate's.

    `launches` are those of a case by its name, `names` those that it launched in other cases, `native` those that
    its CUDA text defines.  With a `source` the launches of each case are timed apart, too.
    """

    launches: Callable[[str], tuple[Launch, ...]] = lambda _: ()
    names: frozenset[str] = frozenset()
    native: NativeKernels = _NO_NATIVE
    source: KernelSource | None = None


@dataclass(frozen=True, kw_only=True)
class TimedCandidate:
    """A loaded worker; without `reload` there is no other one when it has died."""

    side: Side
    reload: Reload | None = None
    kernels: OwnKernels = OwnKernels()


class TimedWorker:
    """The place of a candidate, with the worker that sits there now: None once it has died."""

    def __init__(self, candidate: TimedCandidate) -> None:
        self.side: Side | None = candidate.side
        self._reload = candidate.reload

    async def refill(self) -> None:
        """Have a worker here, if one can be had."""
        if self.side is None and self._reload is not None:
            self.side = await self._reload()
