"""The CPU, on which the machine executes TTIR: always available.  Its times are never shown as speeds."""

from __future__ import annotations

import os
from pathlib import Path

from engine.devices import Device

NAME = "cpu"
VISIBLE_ENV = None
TORCH_DEVICE = "cpu"
EXECUTED_ON_CPU = True
HAS_ACTIVITY_RECORD = False
QUEUES_ENV = None


def detect() -> tuple[Device, ...]:
    """The one CPU of this machine, by its model name."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (Device(platform=NAME, index=0, name=f"{_model()} (TTIR machine)", memory_bytes=memory_bytes),)


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, os.uname().machine)
