"""An upper bound on the memory that code may allocate, for references called with hypothetical arguments."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def limited_memory(more_bytes: int) -> Iterator[None]:
    """Context in which this process gets at most `more_bytes` of new address space.

    Beyond that Python raises MemoryError, and torch a RuntimeError.  Other threads of the process are limited too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = [used_bytes + more_bytes, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
