"""Threads of the workbench share one heap, whose free pages go back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

_COUNT_HEAPS = """
import ctypes, os, sys, threading
from kgtui.app.arenas import use_one_arena

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
if sys.argv[1] == "limited":
    assert use_one_arena()
barrier = threading.Barrier(4)

def allocate():
    barrier.wait()
    library.malloc(1000)
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fdopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(library.fdopen(1, b"w"))
library.malloc_info(0, stream)
library.fflush(stream)
"""

_RELEASE = """
import ctypes, resource
from pathlib import Path
from kgtui.app.arenas import release_free_memory

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = (ctypes.c_void_p,)
blocks = [library.malloc(3000) for _ in range(20_000)]
for block in blocks:
    ctypes.memset(block, 1, 3000)
for block in blocks[:-1]:  # the last one keeps the heap from shrinking
    library.free(block)

def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

before = resident_bytes()
assert release_free_memory()
print(before - resident_bytes())
"""


@pytest.mark.parametrize(("limit", "most"), [("limited", 1), ("default", 5)])
def test_threads_make_no_heaps_once_limited(limit: str, most: int) -> None:
    needs_glibc()
    printed = subprocess.check_output([sys.executable, "-c", _COUNT_HEAPS, limit], text=True)
    assert printed.count("<heap nr=") == most


def test_free_pages_between_blocks_are_released() -> None:
    needs_glibc()
    released = int(subprocess.check_output([sys.executable, "-c", _RELEASE], text=True))
    assert released > 20_000 * 3000 // 2


def needs_glibc() -> None:
    if not sys.platform.startswith("linux") or b"glibc" not in subprocess.check_output(["getconf", "GNU_LIBC_VERSION"]):
        pytest.skip("the C library is not glibc, which alone has arenas")
