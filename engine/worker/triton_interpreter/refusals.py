"""Launches that a GPU refuses: grids and thread counts beyond its limits, and errors of arguments explained.

Triton's own binder and option parser of the target decide, so that an error has the type that it has on a GPU: a
candidate may catch it.
"""

from __future__ import annotations

import difflib
import inspect
import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction, KernelParam, create_function_from_signature, native_specialize_impl

from engine.devices.hardware.targets import target_named

# Triton's launcher is not typed: its arguments are Any throughout this file.

_MOST_BINDERS = 1024
_INT32 = 2**31 - 1


class TooManyThreadsError(OutOfResources):  # type: ignore[misc]  # of Triton, which is not typed
    """Triton's error for a kernel with more threads than a block may have; an autotuner skips such a configuration."""

    def __init__(self, threads: int, limit: int, why: str) -> None:
        super().__init__(threads, limit, "threads")
        self._why = why

    def __str__(self) -> str:
        return f"{super().__str__()} ({self._why})"


class Refusals:
    """Decides which launches the GPU `target` would refuse."""

    def __init__(self, target: str) -> None:
        self._target = target_named(target)
        self._backend = make_backend(GPUTarget(self._target.backend, self._target.architecture, self._target.warp_size))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Triton's advice on a default, once per process
            self._backend.parse_options({})
        self._binder_by_function: dict[Callable[..., Any], Callable[..., Any]] = {}

    def grid(self, asked: Any) -> tuple[int, ...]:
        """The grid as Triton's launcher reads it: at most three integers.

        Raises:
            Exception: that of Triton for an invalid grid.
        """
        sizes = [asked[axis] for axis in range(min(len(asked), 3))]
        if not sizes:
            raise IndexError("the grid is empty; give the number of programs on at least one axis")
        return tuple(map(_whole, range(3), sizes))

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], grid: Sequence[int]
    ) -> None:
        """Raise Triton's error for an invalid launch of the plain Python function `function` of a kernel."""
        self.check_limits(function.__name__, self.check_arguments(function, args, kwargs), grid)

    def check_arguments(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:  # Any: options of Triton, which is not typed
        """The parsed options of a launch; raises Triton's error for its arguments, with the argument's name."""
        args = tuple(map(_as_compiled, args))
        kwargs = {name: _as_compiled(value) for name, value in kwargs.items()}
        try:
            _, _, extra = self._binder(function)(*args, **kwargs)
        except (TypeError, KeyError, OverflowError) as error:
            raise self._explained(function, args, kwargs, error) from None
        options = self._backend.parse_options(dict(extra))
        unknown = next((name for name in extra if not hasattr(options, name)), None)
        if unknown is not None:
            near = difflib.get_close_matches(unknown, [*vars(options), *inspect.signature(function).parameters], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            sentence = f"{unknown} is neither a parameter of {function.__name__} nor a launch option"
            raise KeyError(f"{sentence} for {self._target.name}{hint}")
        return options

    def check_limits(self, kernel: str, options: Any, grid: Sequence[int]) -> None:
        """Raise Triton's error for a launch with these parsed options: too many threads, or too large a grid."""
        self._check_threads(kernel, options)
        self._check_grid(grid, getattr(options, "num_ctas", 1))

    def _binder(self, function: Callable[..., Any]) -> Callable[..., Any]:
        binder = self._binder_by_function.get(function)
        if binder is None:
            if len(self._binder_by_function) == _MOST_BINDERS:
                self._binder_by_function.clear()
            signature = inspect.signature(function)
            parameters = [KernelParam(i, one, False, False) for i, one in enumerate(signature.parameters.values())]
            binder = create_function_from_signature(signature, parameters, self._backend)
            self._binder_by_function[function] = binder
        return binder

    def _explained(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception
    ) -> Exception:
        """The same error with the name of the argument that it is about."""
        parameters = inspect.signature(function).parameters
        plain = str(error).replace("dynamic_func()", f"{function.__name__}()")
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in parameters and not KernelParam(0, parameters[name], False, False).is_constexpr:
                try:
                    native_specialize_impl(type(self._backend), value, False, False, False)
                except Exception:
                    dtype = f" of {value.dtype}" if hasattr(value, "data_ptr") else ""
                    kind = f"{type(value).__name__}{dtype}"
                    return type(error)(f"Triton takes no {kind} for argument {name} of {function.__name__} ({plain})")
        return type(error)(plain)

    def _check_threads(self, kernel: str, options: Any) -> None:
        warps, limit = options.num_warps, self._target.threads_per_block
        threads = warps * self._target.warp_size
        if threads > limit:
            why = f"{kernel} is launched with num_warps={warps}: at most {limit // self._target.warp_size}"
            raise TooManyThreadsError(threads, limit, f"{why} on {self._target.name}")

    def _check_grid(self, grid: Sequence[int], ctas: int) -> None:
        if math.prod(grid) <= 0:
            return  # Triton launches nothing then, and raises nothing
        for axis, size in enumerate(grid):
            most = self._target.grid[axis] if self._target.grid is not None else _INT32
            if not 0 < size * (ctas if axis == 0 else 1) <= most:
                raise RuntimeError(
                    f"Triton Error: invalid argument: the grid {tuple(grid)} has {size:,} programs on axis {axis}, "
                    f"{self._target.name} allows 1 to {most:,}"
                )


def explain_refusals(refusals: Callable[[], Refusals]) -> None:
    """Have Triton's errors for arguments and options of a launch name the argument, and the likely intention."""
    run = JITFunction.run

    def explained(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        try:
            return run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        except (TypeError, KeyError, OverflowError, AssertionError, IndexError):
            if not callable(grid):
                refusals().grid(grid)
            refusals().check_arguments(kernel.fn, args, kwargs)
            raise

    JITFunction.run = explained


def _as_compiled(value: Any) -> Any:
    """The argument as the compiler sees it: kernels passed to kernels are constants, as None is."""
    if isinstance(value, JITFunction):
        return None
    if type(value) is tuple:
        return tuple(map(_as_compiled, value))
    return value


def _whole(axis: int, size: Any) -> int:
    try:
        number = operator.index(size)
    except TypeError:
        raise TypeError(
            f"axis {axis} of the grid is {size!r}, a {type(size).__name__}; expected an integer: // or triton.cdiv"
        ) from None
    if not -_INT32 <= number <= _INT32:
        raise OverflowError(f"axis {axis} of the grid is {number:,}; Triton's launcher takes at most {_INT32:,}")
    return number
