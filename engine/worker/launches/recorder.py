"""Recording launches of compiled kernels, on devices where Triton really compiles.

A kernel is launched by `JITFunction.run`, or as what that has compiled: `compiled[grid](...)`.
"""

from __future__ import annotations

import contextlib
from typing import Any

from triton.compiler.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

from engine.worker.launches.records import LaunchBook, bound_arguments
from engine.worker.launches.withholding import Withholding

# Triton's launcher is not typed: what passes through is Any throughout this file.


class LaunchRecorder:
    """Notes every launch of this process after it was made, while it is on; and makes none that is withheld."""

    def __init__(self, book: LaunchBook, withholding: Withholding | None = None) -> None:
        withholding = withholding or Withholding()
        self._run, self._launcher = JITFunction.run, CompiledKernel.__getitem__
        self._recorded = _recorded(self._run, book, withholding)
        self._recorded_launcher = _recorded_launcher(self._launcher, book, withholding)

    def turn(self, *, on: bool) -> None:
        """Begin or cease to record; calls that are timed must not pay for it."""
        JITFunction.run = self._recorded if on else self._run
        CompiledKernel.__getitem__ = self._recorded_launcher if on else self._launcher


def _recorded(run: Any, book: LaunchBook, withholding: Withholding) -> Any:
    def recorded(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        if not warmup and withholding.withholds(kernel.fn):
            # What a launch returns is the compiled kernel, which candidates may ask for its registers.
            return run(kernel, *args, grid=grid, warmup=True, **kwargs)
        with contextlib.nullcontext() if warmup else withholding.launching(kernel.fn, (*args, *kwargs.values())):
            compiled = run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        if not warmup:
            size = grid(bound_arguments(kernel.fn, args, kwargs)) if callable(grid) else grid
            book.record(kernel.fn, args, kwargs, size)
        return compiled

    return recorded


def _recorded_launcher(launcher: Any, book: LaunchBook, withholding: Withholding) -> Any:
    def recorded(compiled: Any, grid: Any) -> Any:
        launch = launcher(compiled, grid)
        function = getattr(getattr(compiled.src, "fn", None), "fn", None)
        if function is None:  # not made from Python: nobody's own kernel
            return launch

        def launched(*args: Any, **kwargs: Any) -> Any:
            if withholding.withholds(function):
                return None
            with withholding.launching(function, (*args, *kwargs.values())):
                returned = launch(*args, **kwargs)
            book.record(function, args, {}, grid)
            return returned

        return launched

    return recorded
