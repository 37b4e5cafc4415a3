"""Launches as the worker on the CPU makes them, and the list of the scenarios."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from engine.worker.cpu_driver.launcher import Launches
from engine.worker.launches.records import LaunchLog
from engine.worker.launches.withholding import Withholding
from engine.worker.monitor.race_witness import RaceDetector
from engine.worker.triton_interpreter.gpu_need import GpuNeed
from engine.worker.triton_interpreter.interpreter import Interpreter
from engine.worker.triton_interpreter.program_order import ProgramOrder

BOOK = LaunchLog()
PROGRAM_ORDER = ProgramOrder(torch.device("cpu"))
RACE_DETECTOR = RaceDetector()
LAUNCHES = Launches(
    launch_log=BOOK,
    withholding=Withholding(),
    program_order=PROGRAM_ORDER,
    gpu_need=GpuNeed(),
    interpreter=Interpreter(program_order=PROGRAM_ORDER, race_detector=RACE_DETECTOR),
    uses_machine="interpreter" not in sys.argv,
)
SCENARIOS: dict[str, Callable[[], Any]] = {}


def scenario(function: Callable[[], Any]) -> Callable[[], Any]:
    SCENARIOS[function.__name__] = function
    return function


@contextlib.contextmanager
def allowed(*storages: torch.Tensor) -> Iterator[None]:
    """While these are the storages of the case in hand."""
    LAUNCHES.begin_call({f"storage {number}": storage for number, storage in enumerate(storages)})
    try:
        yield
    finally:
        LAUNCHES.begin_call({})
