"""How many compilers an engine has, by the cores and the memory of this machine."""

from __future__ import annotations

import os

_BUSY_PROCESSES = 3  # parent, judge and worker
_MODULES_OF_A_RUN = 40  # a run of many cases launches about as many specialisations
_MEMORY_FOR_MANY_BYTES = 64 << 30


def has_idle_cores() -> bool:
    """Whether there are cores beyond those of parent, judge and worker, so that compiling delays no case."""
    return (os.cpu_count() or 2) > _BUSY_PROCESSES


def most_compilers(*, interpreted: bool) -> int:
    """Number of spare cores; on a device nothing can be called before it is compiled."""
    cores = os.cpu_count() or 2
    return max(1, min(8 if interpreted else 14, cores - 1 if interpreted else cores - 2))


def most_module_compilers() -> int:
    """Number of compilers of modules that wait while no run is in progress: each compiles one, so one for each module.

    On a machine with less memory as many as there are spare cores.
    """
    fewest = most_compilers(interpreted=False)
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(fewest, _MODULES_OF_A_RUN) if memory_bytes >= _MEMORY_FOR_MANY_BYTES else fewest
