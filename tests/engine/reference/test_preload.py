"""Preloading imports what references need, and leaves a process that can fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import json, os, sys
from engine.reference.preload import preload
preload()
names = ("sympy", "torch._dynamo")
print(json.dumps([len(os.listdir("/proc/self/task")), [name for name in names if name in sys.modules]]))
"""


def test_preloading_starts_no_thread() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as a fork server has it
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, env=environment, check=True)
    threads, imported = json.loads(ended.stdout)
    assert threads == 1
    assert imported == ["sympy", "torch._dynamo"]
