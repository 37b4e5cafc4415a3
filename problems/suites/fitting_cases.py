"""Which cases of a task have tensors that fit into the memory of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from engine.errors import UnsupportedError
from engine.judge.inputs.memory_need import COPIES, available_memory
from engine.model import Case
from problems.suites.plan import CASE, PlannedTask

_MOST_NOTES = 16  # one for each case that is left out


@dataclass(frozen=True, kw_only=True)
class FittingCases:
    """The cases of a task that fit into memory, at least one; `notes` on the others."""

    cases: tuple[Case, ...]
    notes: tuple[str, ...] = ()


def fitting_cases(planned: PlannedTask, needed_bytes: int | Mapping[str, int] | None) -> FittingCases:
    """The cases whose tensors fit into memory, or have an unknown number of bytes.

    Raises:
        UnsupportedError: none fits; the message has the size of the smallest and how to reduce it.
    """
    cases, available = planned.contract["cases"], available_memory()
    if needed_bytes is None or available is None:
        return FittingCases(cases=cases)
    if isinstance(needed_bytes, int):
        _require_fitting(planned, needed_bytes, available)
        return FittingCases(cases=cases)
    large = {name: size for name, size in needed_bytes.items() if COPIES * size > available}
    fitting = tuple(case for case in cases if case.params.get(CASE) not in large)
    if not fitting:
        _require_fitting(planned, min(large.values()), available)
    notes = (
        f"workload {name} is left out: it has {size:,} bytes of inputs and outputs and needs about "
        f"{COPIES * size:,}, of which {available:,} are available"
        for name, size in large.items()
    )
    return FittingCases(cases=fitting, notes=tuple(islice(notes, _MOST_NOTES)))


def _require_fitting(planned: PlannedTask, needed_bytes: int, available: int) -> None:
    """Accept this number of bytes of inputs, weights and outputs.

    Raises:
        UnsupportedError: they do not fit; the message has their size and how to reduce it.
    """
    if COPIES * needed_bytes <= available:
        return
    sizes = ", ".join(f"{name}={size}" for name, size in planned.sizes.items())
    advice = f"make it smaller with --cap N or --size NAME=N ({sizes})" if sizes else "it has no sizes to make smaller"
    raise UnsupportedError(
        f"{planned.task.name} has {needed_bytes:,} bytes of inputs, weights and outputs and needs about "
        f"{COPIES * needed_bytes:,}, of which {available:,} are available; {advice}"
    )
