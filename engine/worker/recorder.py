"""Recording launches of compiled kernels, on devices where Triton really compiles."""

from __future__ import annotations

from typing import Any

from triton.runtime.jit import JITFunction

from engine.worker.launches import LaunchBook, bound_arguments

# Triton's launcher is not typed: what passes through is Any throughout this file.


def record_compiled_launches(book: LaunchBook) -> None:
    """Patch JITFunction.run in this process so that every launch is noted after it was made."""
    run = JITFunction.run

    def recorded(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        compiled = run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        if not warmup:
            size = grid(bound_arguments(kernel.fn, args, kwargs)) if callable(grid) else grid
            book.record(kernel.fn, args, kwargs, size)
        return compiled

    JITFunction.run = recorded
