"""Runs programs in another order than the default: a kernel that is right in only one order has a race.

On the CPU the programs of a grid run one after another or in chunks, so that their order can be chosen. The order
on a device cannot be chosen; there other work runs beside the call and interleaves with it.  This module only changes
the order; it never reads an output.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch

from engine import protocol
from engine.clock.safe_torch import Base, without_modes
from engine.devices.runtimes import runtime_of

_BLOCK_BYTES = 64 << 20  # larger than any cache, so that each round accesses memory
_FEWEST_ROUNDS, _MOST_ROUNDS = 8, 64


class ProgramOrder:
    """Current order of the programs of this process, and the number of launches that it has changed."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._program_order: protocol.ProgramOrder | None = None
        self._order: list[int] = []
        self._launches = 0
        self._concurrent_work: _ConcurrentWork | None = None

    @contextlib.contextmanager
    def during(self, program_order: protocol.ProgramOrder | None) -> Iterator[None]:
        """Context in which launches run in another order."""
        self._launches = 0
        if program_order is not None and not runtime_of(self._device).EXECUTED_ON_CPU:
            self._concurrent_work = self._concurrent_work or _ConcurrentWork(self._device)
            self._concurrent_work.start(random.Random(program_order.seed).randint(_FEWEST_ROUNDS, _MOST_ROUNDS))
        self._program_order = program_order
        try:
            yield
        finally:
            self._program_order = None

    @property
    def launches(self) -> int:
        """Number of launches of the last block that had several programs and ran in another order."""
        return self._launches

    @property
    def seed(self) -> int:
        """The machine's seed for a launch."""
        if self._program_order is None:
            return 0
        return -1 if self._program_order.seed is None else self._program_order.seed + 1

    def note_launch(self, *, is_reordered: bool) -> None:
        """Count a launch of the machine if its programs ran in another order."""
        self._launches += is_reordered

    def moving(self, set_place: Callable[..., None]) -> Callable[..., None]:
        """The interpreter's step to the next program, changed to another one while the order is not the default."""

        def set_grid_idx(builder: Any, x: int, y: int, z: int) -> None:  # Any: Triton's interpreter is not typed
            if self._program_order is None:
                return set_place(builder, x, y, z)
            _, columns, layers = builder.grid_dim
            number = (x * columns + y) * layers + z
            if number == 0:
                self._begin(builder.grid_dim, self._program_order)
            row, rest = divmod(self._order[number], columns * layers)
            return set_place(builder, row, *divmod(rest, layers))

        return set_grid_idx

    def _begin(self, sizes: tuple[int, int, int], program_order: protocol.ProgramOrder) -> None:
        programs = sizes[0] * sizes[1] * sizes[2]
        self._order = list(range(programs - 1, -1, -1))
        if program_order.seed is not None:
            random.Random(program_order.seed).shuffle(self._order)
        self._launches += programs > 1


class _ConcurrentWork:
    """Work on a separate stream that is never waited for."""

    def __init__(self, device: torch.device) -> None:
        self._stream: torch.cuda.Stream = torch.cuda.Stream(device)
        self._block = torch.zeros(_BLOCK_BYTES, dtype=torch.uint8, device=device)
        torch.cuda.synchronize(device)

    def start(self, rounds: int) -> None:
        """Start this number of rounds."""
        with without_modes(), torch.cuda.stream(self._stream):
            for _ in range(rounds):
                Base.add_(self._block, 1)
