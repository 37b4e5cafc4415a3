"""Runs the frontend for the kernels of a case without launching them, so that another worker finds their TTIR."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from engine import protocol
from engine.protocol import tensors
from engine.worker.cpu_driver.launcher import Launches
from engine.worker.launches.tuning import Tuning


class LoweringRun:
    """Suppresses all launches of this process from now on.  It may have wrong entries in its caches afterwards."""

    def __init__(self, launches: Launches, tuning: Tuning) -> None:
        launches.suppress()
        tuning.stop_measuring()
        self._modules = launches.shared_modules
        self._modules.collect()

    def call(self, entry: Callable[..., Any], command: protocol.RunDry) -> protocol.DryRunDone:  # Any: untrusted
        """Call the entry on zeros of the right shapes; returns the TTIR of each specialisation not returned before."""
        storages = [torch.zeros(size, dtype=torch.uint8) for size in command.storages]
        arguments = [tensors.argument_of(spec, storages) for spec in command.arguments]
        # The entry may fail on missing results; what it launched before that is valid.
        with contextlib.suppress(Exception):
            entry(*arguments)
        return protocol.DryRunDone(id=command.id, kernels=self._modules.take())
