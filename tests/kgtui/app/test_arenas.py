"""Threads of the workbench share one heap."""

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


@pytest.mark.parametrize(("limit", "most"), [("limited", 1), ("default", 5)])
def test_threads_make_no_heaps_once_limited(limit: str, most: int) -> None:
    if not sys.platform.startswith("linux") or b"glibc" not in subprocess.check_output(["getconf", "GNU_LIBC_VERSION"]):
        pytest.skip("the C library is not glibc, which alone has arenas")
    printed = subprocess.check_output([sys.executable, "-c", _COUNT_HEAPS, limit], text=True)
    assert printed.count("<heap nr=") == most
