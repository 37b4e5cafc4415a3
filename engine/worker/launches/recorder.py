"""Records launches of compiled kernels, on devices for which Triton compiles.

A kernel is launched by `JITFunction.run`, or as the kernel compiled by that: `compiled[grid](...)`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from triton.compiler.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

from engine.model import Launch
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS, ClaimedKernel
from engine.worker.launches.records import OPTIONS, LaunchLog, argument_names, bound_arguments, describe
from engine.worker.launches.withholding import Withholding

# Triton's launcher is not typed: what passes through is Any throughout this file.


_LAUNCH_OPTIONS = ("num_warps", "num_stages", *OPTIONS)


@dataclass(kw_only=True)
class _Launch:
    """A launch; `values` are its arguments by parameter, constants included.

    `sizes` are those of its grid as given, along one to three axes; `compiled` is the kernel that ran, None before.
    """

    function: Callable[..., Any]
    sizes: tuple[int, ...]
    values: Mapping[str, Any]
    options: Mapping[str, Any]
    compiled: Any = None

    @property
    def grid(self) -> tuple[int, int, int]:
        """The number of programs along each axis."""
        x, y, z = (*self.sizes, 1, 1, 1)[:3]
        return (x, y, z)

    @property
    def claimed(self) -> ClaimedKernel | None:
        """The TTIR of the kernel that ran with the names of its arguments; None where they are not known."""
        try:
            ttir = self.compiled.asm["ttir"]
            names = argument_names(self.compiled.src.signature, self.values)
        except Exception:  # another version's kernel, or the candidate's own object
            return None
        if not isinstance(ttir, str) or len(ttir) > MOST_MODULE_CHARACTERS:
            return None
        return ClaimedKernel(ttir=ttir, arguments=names)

    @functools.cached_property
    def described(self) -> Launch:
        """The record of the launch."""
        return describe(self.function, self.values, self.options, self.sizes)


class Launching(Protocol):
    """Interface of a recorder of launches."""

    @property
    def is_on(self) -> bool:
        """Whether launches are recorded."""
        ...

    def launching(self, launch: Any) -> contextlib.AbstractContextManager[None]:
        """Context in which the launch runs."""
        ...


class Tapes(Launching, Protocol):
    """Interface of the recorder of a call's tape."""

    @property
    def capture(self) -> Launching | None:
        """Recorder of the current CUDA graph capture; None without one."""
        ...


class LaunchRecorder:
    """While on, records every launch of this process after it was made; suppresses withheld ones.

    Launches are also recorded on the tape of a call while `tapes` records one.
    """

    def __init__(
        self, launch_log: LaunchLog, withholding: Withholding | None = None, tapes: Tapes | None = None
    ) -> None:
        withholding = withholding or Withholding()
        self._run, self._launcher = JITFunction.run, CompiledKernel.__getitem__
        self._recorded = _recorded(self._run, launch_log, withholding, tapes)
        self._recorded_launcher = _recorded_launcher(self._launcher, launch_log, withholding, tapes)

    def turn(self, *, on: bool) -> None:
        """Switch recording on or off; calls that are timed must not be slowed down by it."""
        JITFunction.run = self._recorded if on else self._run
        CompiledKernel.__getitem__ = self._recorded_launcher if on else self._launcher

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Context in which launches are recorded; the previous state is restored afterwards."""
        was_on = JITFunction.run is self._recorded
        self.turn(on=True)
        try:
            yield
        finally:
            self.turn(on=was_on)


def _recorded(run: Any, launch_log: LaunchLog, withholding: Withholding, tapes: Tapes | None) -> Any:
    def recorded(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        if warmup or withholding.withholds(kernel.fn):
            # With warmup=True the compiled kernel is still returned, which candidates may query for its registers.
            return run(kernel, *args, grid=grid, warmup=True, **kwargs)
        launch = _launch_of(kernel.fn, args, kwargs, grid)
        with withholding.launching(kernel.fn, (*args, *kwargs.values())), _taping(tapes, launch):
            compiled = run(kernel, *args, grid=grid, warmup=False, **kwargs)
            if launch is not None:
                launch.compiled = compiled
        if launch is not None:
            launch_log.add(launch.described)
        return compiled

    return recorded


def _launch_of(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any], grid: Any
) -> _Launch | None:
    """The launch with these arguments, some of which `options` may have; None where they or the grid are not valid.

    Triton reports the error.
    """
    try:
        values = bound_arguments(function, args, options)
        sizes = tuple(int(size) for size in (grid(values) if callable(grid) else grid))
    except Exception:
        return None
    chosen = {name: options[name] for name in _LAUNCH_OPTIONS if options.get(name) is not None}
    return _Launch(function=function, sizes=sizes, values=values, options=chosen)


def _taping(tapes: Tapes | None, launch: _Launch | None) -> contextlib.AbstractContextManager[None]:
    """Context of a launch, which records it on the current tape, if any."""
    receiver = tapes.capture or tapes if tapes is not None else None
    if launch is None or receiver is None or not receiver.is_on:
        return contextlib.nullcontext()
    if min(launch.grid) <= 0:  # an empty grid launches nothing
        return contextlib.nullcontext()
    return receiver.launching(launch)


def _recorded_launcher(launcher: Any, launch_log: LaunchLog, withholding: Withholding, tapes: Tapes | None) -> Any:
    def recorded(compiled: Any, grid: Any) -> Any:
        launched = launcher(compiled, grid)
        function = getattr(getattr(compiled.src, "fn", None), "fn", None)
        if function is None:  # not made from a Python function: a kernel without an owner
            return launched

        def recorded_launch(*args: Any, **kwargs: Any) -> Any:
            if withholding.withholds(function):
                return None
            metadata = getattr(compiled, "metadata", None)
            options = {name: getattr(metadata, name, None) for name in ("num_warps", "num_stages")}
            launch = _launch_of(function, args, options, grid)
            with withholding.launching(function, (*args, *kwargs.values())), _taping(tapes, launch):
                returned = launched(*args, **kwargs)
                if launch is not None:
                    launch.compiled = compiled
            if launch is not None:
                launch_log.add(launch.described)
            return returned

        return recorded_launch

    return recorded
