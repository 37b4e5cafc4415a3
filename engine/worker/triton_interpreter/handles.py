"""What `kernel.warmup(...)` gives in the interpreter: a handle that launches, as the compiled kernel on a device does.

The handle knows no registers and no shared memory, for nothing was compiled; who asks for these is told so.
Patches Triton's interpreter in this process, for triton 3.6 to 3.9; never used outside a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triton.runtime import interpreter as triton_interpreter

from engine.loading.raised import InterpreterLimitError

# Triton's interpreter is not typed: what is taken from it or handed to it is Any throughout this file.


class NotCompiledError(InterpreterLimitError, AttributeError):
    """A figure of compiled code was asked for.  An AttributeError too, so that who asks with care gets no error."""


class Handle:
    """An interpreted kernel in the place of a compiled one."""

    def __init__(self, kernel: Any, settings: Mapping[str, Any]) -> None:
        self._kernel = kernel
        self._constants = {name: value for name, value in settings.items() if name in kernel.arg_names}

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """The launch over this grid; what it is not given is as it was at the warm-up."""

        def launch(*args: Any, **options: Any) -> Any:
            given = {*self._kernel.arg_names[: len(args)], *options}
            kept = {name: value for name, value in self._constants.items() if name not in given}
            return self._kernel[grid](*args, **kept, **options)

        return launch

    def _init_handles(self) -> None:
        """Nothing: there is nothing to load."""

    def __getattr__(self, name: str) -> Any:
        raise NotCompiledError(f"the interpreter compiles nothing, so that a kernel has no {name} in it")


def install() -> None:
    """Have kernels that are warmed up from now on give handles."""
    function = triton_interpreter.InterpretedFunction
    run = function.run

    def run_or_warm_up(kernel: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        if warmup:
            return Handle(kernel, options)
        return run(kernel, *args, grid=grid, warmup=warmup, **options)

    function.run = run_or_warm_up
