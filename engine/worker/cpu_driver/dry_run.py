"""Finds the kernels that a case launches on the CPU, without lowering or launching them.

Results of suppressed launches are missing, so the process may have wrong entries in its caches; it is discarded
afterwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from engine import protocol
from engine.protocol import tensors
from engine.protocol.compiling import KeyedLaunch
from engine.protocol.launches import number_that_fits
from engine.worker.cpu_driver.launcher import Launches
from engine.worker.launches.tuning import Tuning


class CpuDryRun:
    """Suppresses all launches of this process from now on."""

    def __init__(self, launches: Launches, tuning: Tuning) -> None:
        launches.suppress(self._note)
        tuning.stop_measuring()
        self._unreported: list[KeyedLaunch] = []
        self._keys: set[str] = set()

    def call(self, entry: Callable[..., Any], command: protocol.RunDry) -> protocol.DryRunDone:  # Any: untrusted
        """Call the entry on zeros of the right shapes; returns a launch of each specialisation not returned before."""
        storages = [torch.zeros(size, dtype=torch.uint8) for size in command.storages]
        arguments = [tensors.argument_of(spec, storages) for spec in command.arguments]
        # The entry may fail on missing results; what it launched before that is valid.
        with contextlib.suppress(Exception):
            entry(*arguments)
        count = number_that_fits([keyed.launch for keyed in self._unreported])
        reported, self._unreported = self._unreported[:count], self._unreported[count:]
        return protocol.DryRunDone(id=command.id, keyed=tuple(reported))

    def _note(self, keyed: KeyedLaunch) -> None:
        if keyed.key not in self._keys:
            self._keys.add(keyed.key)
            self._unreported.append(keyed)
