"""A dry run: the entry is called with every launch suppressed, to find the kernels to compile.

Triton reports them: before it compiles a specialisation it calls a hook, which records the description and makes Triton
skip the launch.  Results of suppressed launches are missing, so the process of a dry run may have wrong entries in its
caches; it is discarded afterwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from triton import knobs
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from engine import protocol
from engine.protocol import tensors
from engine.protocol.launches import number_that_fits
from engine.worker.launches.records import bound_arguments, describe
from engine.worker.launches.tuning import FEW_CONFIGURATIONS, Tuning

# Triton's launcher is not typed: what passes through is Any throughout this file.


class DryRun:
    """Suppresses all launches of this process from now on."""

    def __init__(self, device: torch.device, tuning: Tuning) -> None:
        self._device = device
        self._tuning = tuning
        self._met: list[protocol.SuppressedLaunch] = []
        self._specialisation = ""
        knobs.runtime.jit_cache_hook = self._note
        _wrap_run(self._launched)
        tuning.stop_measuring()
        self._tunes = False
        takes_first = vars(Autotuner)["do_bench"]

        def bench(tuner: Any) -> Any:
            is_all = self._tunes or len(tuner.configs) <= FEW_CONFIGURATIONS  # the first of few may not build
            return _call_once if is_all else takes_first.fget(tuner)

        Autotuner.do_bench = property(bench)

    def call(self, entry: Callable[..., Any], command: protocol.RunDry) -> protocol.DryRunDone:
        """Call the entry on zeros of the right shapes; returns the suppressed launches in order."""
        self._met.clear()
        self._tuning.forget()
        self._tunes = command.tunes
        storages = [torch.zeros(size, dtype=torch.uint8, device=self._device) for size in command.storages]
        arguments = [tensors.argument_of(spec, storages) for spec in command.arguments]
        # The entry may fail on missing results; its launches before that are valid.
        is_incomplete = True
        with contextlib.suppress(Exception):
            entry(*arguments)
            is_incomplete = len(self._met) > self._fitting
        return protocol.DryRunDone(
            id=command.id, launches=tuple(self._met[: self._fitting]), is_incomplete=is_incomplete
        )

    @property
    def _fitting(self) -> int:
        return number_that_fits([met.launch for met in self._met])

    def _note(self, *_: Any, compile: Any, **__: Any) -> bool:
        self._specialisation = str(compile["specialization_data"])
        return True

    def _launched(self, kernel: Any, args: Any, kwargs: Any, grid: Any) -> None:
        if self._specialisation:
            values = bound_arguments(kernel.fn, args, kwargs)
            size = grid(values) if callable(grid) else grid
            launch = describe(kernel.fn, values, kwargs, tuple(int(part) for part in size))
            self._met.append(protocol.SuppressedLaunch(launch=launch, specialisation=self._specialisation))
        self._specialisation = ""


def _wrap_run(launched: Callable[[Any, Any, Any, Any], None]) -> None:
    run = JITFunction.run

    def suppressed(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        compiled = run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        launched(kernel, args, kwargs, grid)
        return compiled

    JITFunction.run = suppressed


def _call_once(kernel_call: Callable[[], Any], quantiles: Any = None) -> list[float]:
    kernel_call()
    return [1.0, 1.0, 1.0]
