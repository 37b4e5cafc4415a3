"""Decides how long to wait for a process, by the time that it used rather than by the wall clock.

On a busy machine a process waits for a CPU, which is not its fault.  So a limit counts the CPU time of the process and
of all its descendants, and half of the time that it slept, but no time in which it could run and got no CPU.  A long
wait with hardly any CPU time is not evidence about the process: the machine is too busy.  Pure functions of measured
seconds: `meter.py` measures them, and nothing here reads a clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

ASLEEP_SHARE = 0.5  # share of the time asleep that counts: the process may wait for a disk, a device or a driver
MOST_ASLEEP_S = 1.0  # upper bound per interval; intervals are far shorter unless the parent itself was stopped
MOST_TIMES = 20.0  # times the limit, in wall time; eight busy processes on two cores need a factor of five
LEAST_MOST_S = 60.0


class WaitDecision(enum.Enum):
    """Whether to continue waiting for a process."""

    WAIT = enum.auto()
    TIMED_OUT = enum.auto()
    TOO_BUSY = enum.auto()


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Measurements of a process between two readings.

    `cpu_s` is the CPU time of all its threads and descendants, `delayed_s` the total time in which those could have run
    and got no CPU, and `stolen_s` the time that a hypervisor took of each core.
    """

    wall_s: float
    cpu_s: float = 0.0
    delayed_s: float = 0.0
    stolen_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Waited:
    """The time of a wait for a process, by what the process did.

    `running_s` is how long it would have run alone on this machine, and `asleep_s` how long none of its threads could
    have run.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    running_s: float = 0.0
    asleep_s: float = 0.0

    @property
    def counted_s(self) -> float:
        """Time that counts against a limit."""
        return self.running_s + ASLEEP_SHARE * self.asleep_s


def together(one: Interval, other: Interval) -> Interval:
    """Sum over two processes in the same time, as if they were one."""
    return Interval(
        wall_s=max(one.wall_s, other.wall_s),
        cpu_s=one.cpu_s + other.cpu_s,
        delayed_s=one.delayed_s + other.delayed_s,
        stolen_s=max(one.stolen_s, other.stolen_s),
    )


def longer(waited: Waited, interval: Interval, *, cores: int) -> Waited:
    """The wait extended by one interval."""
    if interval.wall_s <= 0:
        return waited
    runnable_s = interval.cpu_s + interval.delayed_s
    threads = max(1.0, runnable_s / interval.wall_s)  # runnable threads on average
    asleep_s = max(0.0, interval.wall_s - interval.stolen_s - runnable_s / threads)
    return Waited(
        wall_s=waited.wall_s + interval.wall_s,
        cpu_s=waited.cpu_s + interval.cpu_s,
        # Concurrent threads count once; with more threads than cores they delay each other.
        running_s=waited.running_s + interval.cpu_s / min(threads, max(1, cores)),
        asleep_s=waited.asleep_s + min(MOST_ASLEEP_S, asleep_s),
    )


def wait_decision(waited: Waited, *, limit_s: float) -> WaitDecision:
    """Whether to continue waiting for a process with a limit of `limit_s`."""
    if waited.counted_s >= limit_s:
        return WaitDecision.TIMED_OUT
    if waited.wall_s < max(LEAST_MOST_S, MOST_TIMES * limit_s):
        return WaitDecision.WAIT
    # Threads that only contend with each other look like a busy machine, except that they use CPU time.
    return WaitDecision.TIMED_OUT if waited.cpu_s >= limit_s else WaitDecision.TOO_BUSY
