"""Resources that a process and all its descendants have used, read from /proc by its parent.

The process cannot influence these values: the kernel counts.  A value that the kernel does not offer counts as zero,
which makes a wait shorter and never endless.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.cpu_time.deadline import Interval

_PROC = Path("/proc")
_MOST_THREADS = 512  # threads inspected per look: more would keep the parent busy
_NS = 1e-9


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """The counters at one time; `delay_ns` by thread, since that of a thread is lost when it ends."""

    at_s: float
    cpu_ticks: int
    delay_ns: dict[int, int]
    stolen_ticks: int


class Meter:
    """CPU time of one process, with or without its descendants, counted from the first reading."""

    def __init__(
        self, pid: int, *, below: bool = True, clock: Callable[[], float] = time.monotonic, proc: Path = _PROC
    ) -> None:
        self._pid = pid
        self._below = below
        self._clock = clock
        self._proc = proc
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
        self._last: _Reading | None = None

    def look(self) -> Interval:
        """Resources used since the last reading."""
        last, now = self._last, self._read()
        self._last = now
        if last is None:
            return Interval(wall_s=0.0)
        delayed_ns = sum(now.delay_ns[thread] - last.delay_ns.get(thread, 0) for thread in now.delay_ns)
        return Interval(
            wall_s=now.at_s - last.at_s,
            # Less than before where a process ended before its usage was collected.
            cpu_s=max(0, now.cpu_ticks - last.cpu_ticks) * self._tick_s,
            delayed_s=max(0, delayed_ns) * _NS,
            stolen_s=max(0, now.stolen_ticks - last.stolen_ticks) * self._tick_s / (os.cpu_count() or 1),
        )

    def _read(self) -> _Reading:
        cpu_ticks, delay_ns = 0, dict[int, int]()
        for process in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may end while it is read
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                # User and system time, and both of the children that ended.
                cpu_ticks += sum(map(int, fields[11 : 15 if self._below else 13]))
            for thread in _entries(process / "task")[: _MOST_THREADS - len(delay_ns)]:
                with contextlib.suppress(OSError, ValueError, IndexError):
                    delay_ns[int(thread.name)] = int((thread / "schedstat").read_text().split()[1])
        return _Reading(at_s=self._clock(), cpu_ticks=cpu_ticks, delay_ns=delay_ns, stolen_ticks=self._steal_ticks())

    def _processes(self) -> Iterator[Path]:
        """The process, and its descendants if they count."""
        waiting, met = [self._pid], 0
        while waiting and met < _MOST_THREADS:
            process = self._proc / str(waiting.pop())
            met += 1
            yield process
            for thread in _entries(process / "task") if self._below else ():
                with contextlib.suppress(OSError, ValueError):  # a kernel may be built without this file
                    waiting += map(int, (thread / "children").read_text().split())

    def _steal_ticks(self) -> int:
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int((self._proc / "stat").read_text().partition("\n")[0].split()[8])
        return 0


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
