"""Detects a race: two programs of a launch that access one element so that their order matters.

It only records, and only in a call whose programs run in another order because a witness was requested; the judge
decides what came out wrong.  Loads and stores count, but not atomics, which are meant for concurrent access.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from engine import protocol

_MOST_NOTED = 1 << 19  # most elements recorded for one launch
_READERS_KEPT = 2  # two, so that one remains if the other is the writer

ProgramIds: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class MemoryAccess:
    """One access of one program: `values` are those of a store, None for a load."""

    program: ProgramIds
    line: int | None
    values: Any = None  # a numpy array, which is not typed

    @property
    def is_store(self) -> bool:
        """Whether it writes."""
        return self.values is not None


class RaceDetector:
    """Records the first conflict of a call."""

    def __init__(self) -> None:
        self.on = False
        self._first: protocol.Race | None = None
        self._other: MemoryAccess | None = None
        self._forget()

    @contextlib.contextmanager
    def during(self, program_order: protocol.ProgramOrder | None) -> Iterator[None]:
        """Context in which accessed elements are recorded, if the program order requests it."""
        self.on, self._first = program_order is not None and program_order.witness, None
        try:
            yield
        finally:
            self.on = False
            self._forget()

    @property
    def first(self) -> protocol.Race | None:
        """The first conflict of the last block; None if there is none."""
        return self._first

    def begin_launch(self) -> None:
        """Forget the accesses of the last launch: launches are ordered, so their programs do not conflict."""
        self._forget()

    def note(self, access: MemoryAccess, addresses: Any) -> int | None:
        """Record an access; the first address that conflicts with another program's.

        None if there is none, or a conflict was recorded before.
        """
        if self._first is not None or self._noted > _MOST_NOTED:
            return None
        flat = np.asarray(addresses).reshape(-1).tolist()
        self._noted += len(flat)
        if not access.is_store:
            return next((address for address in flat if self._conflicts_on_load(access, address)), None)
        words = np.ascontiguousarray(access.values).reshape(-1)
        contents = words.view(f"V{words.dtype.itemsize}").tolist()
        pairs = zip(flat, contents, strict=True)
        return next((address for address, content in pairs if self._conflicts_on_store(access, address, content)), None)

    def record(self, kernel: str, tensor: str, index: int, access: MemoryAccess) -> None:
        """Keep the conflict that `note` has found, with the name of the accessed tensor."""
        assert self._other is not None
        other = self._other
        self._first = protocol.Race(
            kernel=kernel, tensor=tensor, index=index, first=_access(other), second=_access(access)
        )

    def _conflicts_on_load(self, access: MemoryAccess, address: int) -> bool:
        written = self._writers.get(address)
        if written is not None and written[0].program != access.program:
            self._other = written[0]
            return True
        readers = self._readers.setdefault(address, {})
        if len(readers) < _READERS_KEPT:
            readers.setdefault(access.program, access)
        return False

    def _conflicts_on_store(self, access: MemoryAccess, address: int, content: bytes) -> bool:
        written = self._writers.get(address)
        others = [reader for program, reader in self._readers.get(address, {}).items() if program != access.program]
        if written is not None and written[0].program != access.program and written[1] != content:
            others = [written[0]]
        if others:
            self._other = others[0]
            return True
        self._writers[address] = access, content
        return False

    def _forget(self) -> None:
        self._readers: dict[int, dict[ProgramIds, MemoryAccess]] = {}
        self._writers: dict[int, tuple[MemoryAccess, bytes]] = {}
        self._other = None
        self._noted = 0


def _access(access: MemoryAccess) -> protocol.Access:
    return protocol.Access(stores=access.is_store, program=access.program, line=access.line)
