"""Baselines that a candidate is compared with: one file each, found by scanning this folder.

A baseline module defines `NAME` (its name in a plan), `available(problem, device)` ("" when it can be used there, else
the reason in a sentence) and `prepare(problem, case, arguments, device)`, which returns it compiled, tuned and warm.  A
module that lacks one of them is refused when it is found.

A baseline never replaces another: one that cannot be what its name promises raises `BaselineError`. Importing a
baseline loads no torch, so that a process without it can list their names.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.devices.runtimes import runtime_of
from engine.errors import EngineError, UsageError
from engine.judge.inputs.copies import private_copies

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition, Returned, Value

RUNS_APART = "the reference of a foreign problem runs in another process, which times it unchanged (eager)"
_REQUIRED = ("NAME", "available", "prepare")


class BaselineError(EngineError):
    """An available baseline could not be prepared; the message has its name and the reason."""


@dataclass(frozen=True, kw_only=True)
class ReadyBaseline:
    """A baseline that has been called and may be timed; it has the contract of the problem's entry.

    `notes` are its differences from what its name promises.
    """

    call: Callable[..., Returned]
    notes: tuple[str, ...] = ()

    def __call__(self, *arguments: Value) -> Returned:
        return self.call(*arguments)


class Baseline(Protocol):
    """Interface of every baseline module."""

    NAME: str

    def available(self, problem: ProblemDefinition, device: torch.device) -> str:
        """Reason why it cannot be used for this problem on this device; "" if it can."""
        ...

    def prepare(
        self, problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device
    ) -> ReadyBaseline:
        """Prepare it for timing on arguments of this case.

        `arguments` are as the entry gets them, those of `problem.on_cpu` in host memory, and are not changed.

        Raises:
            BaselineError: it failed, or would not be what its name promises.
        """
        ...


def baseline_names(*, package: str = __name__) -> tuple[str, ...]:
    """The names of all baselines in alphabetical order.

    Raises:
        EngineError: a module here is not a baseline; the message names its file.
    """
    return tuple(sorted(_found(package)))


def baseline_named(name: str, *, package: str = __name__) -> Baseline:
    """The baseline called `name`.

    Raises:
        UsageError: there is none; the message lists those that exist.
        EngineError: a module here is not a baseline; the message names its file.
    """
    found = _found(package)
    if name not in found:
        raise UsageError(f"unknown baseline {name!r}: use one of {', '.join(sorted(found))}")
    return found[name]


def ready(
    call: Callable[..., Returned], problem: ProblemDefinition, arguments: Arguments, *, label: str, device: torch.device
) -> ReadyBaseline:
    """`call` after one call on private copies of `arguments`, with the device synchronised.

    Raises:
        BaselineError: an argument is on another device, or the call failed.
    """
    call_once(call, problem, arguments, label=label, device=device)
    return ReadyBaseline(call=call)


def call_once(
    call: Callable[..., Returned], problem: ProblemDefinition, arguments: Arguments, *, label: str, device: torch.device
) -> Returned:
    """Returned values of `call` for private copies of `arguments`, with the device synchronised.

    Raises:
        BaselineError: an argument is on another device, or the call failed.
    """
    import torch

    from engine.protocol.tensors import tensors_in

    for name, value in zip(problem.arguments, arguments, strict=True):
        # A pointer into host memory, passed to a library of the device, would crash this process.
        place = torch.device("cpu") if name in problem.on_cpu else device
        for tensor in tensors_in(value):
            if tensor.device.type != place.type:
                raise BaselineError(f"{label}: {name} is on {tensor.device}, expected {place}; move it there first")
    try:
        outputs = call(*private_copies(arguments))
        runtime_of(device).synchronise(device)
    except Exception as error:  # the edge to libraries: whatever one raises is reported with the baseline's name
        raise BaselineError(f"{label}: {type(error).__name__}: {error}") from error
    return outputs


def _found(package: str) -> dict[str, Baseline]:
    """Every baseline of `package` by its name."""
    found: dict[str, Baseline] = {}
    for entry in pkgutil.iter_modules(importlib.import_module(package).__path__):
        module = importlib.import_module(f"{package}.{entry.name}")
        file = f"{package.replace('.', '/')}/{entry.name}.py"
        missing = [name for name in _REQUIRED if not hasattr(module, name)]
        if missing:
            raise EngineError(f"{file} does not define {', '.join(missing)}")
        if not isinstance(module.NAME, str):
            raise EngineError(f"{file}: NAME should be a string, is {module.NAME!r}")
        if module.NAME in found:
            raise EngineError(f"{file}: another file already has the NAME {module.NAME!r}; names must differ")
        found[module.NAME] = module
    return found
