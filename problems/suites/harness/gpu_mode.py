"""GPU MODE: `generate_input(**case)` makes the one argument of a submission, `ref_kernel` the expected output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.loading.loader import import_file
from engine.model.problems.suite_origin import Precision
from engine.reference.harness import UnavailableError
from problems.suites.harness.devices import Seeds, redirect_cuda, rewrite_folder
from problems.suites.harness.objects import TaskObjects
from problems.suites.harness.values import answered, copied
from problems.suites.harness.written import Effects, effects_of

_LISTS = {"test": "tests", "benchmark": "benchmarks"}
_MOST_SEED = 2**31


def open_task(file: Path, details: Mapping[str, str], device: torch.device) -> GpuModeTask:
    """Import the reference and the files beside it; `details` has the cases of the task.yml."""
    rewrite_folder(file.parent, device)
    redirect_cuda(device)
    seeds = Seeds()
    return GpuModeTask(import_file(file, file.parent, name=file.stem), details, seeds)


class GpuModeTask:
    """A task whose reference.py has been imported."""

    def __init__(self, reference: ModuleType, details: Mapping[str, str], seeds: Seeds) -> None:
        self._reference, self._details, self._seeds = reference, details, seeds
        self._objects = TaskObjects()
        self._effects: dict[str, Effects] = {}
        self.notes: tuple[str, ...] = ("seeds of the task.yml are replaced by fresh ones",)

    def needed_bytes(self) -> int | None:
        """Unknown without making the input."""
        return None

    def draw(self, *, seed: int, weight_seed: int, case: str) -> tuple[Any, ...]:
        """The input of a case, "test 2" or "benchmark 1", with its seed replaced by `seed`.

        Output buffers that the reference does not read get other content than that of generate_input.

        Raises:
            UnavailableError: the case does not exist, or the input contains a value that cannot be sent to a candidate.
        """
        values = dict(self._case(case))
        if "seed" in values:
            values["seed"] = seed % _MOST_SEED
        self._seeds.start(seed)
        arguments = (copied(self._objects.plain(self._reference.generate_input(**values))),)
        if case not in self._effects:
            self._effects[case] = effects_of(self._compute, arguments, has_buffers=True)
        self._effects[case].poison(arguments)
        return arguments

    def expected(self, arguments: tuple[Any, ...], precision: Precision) -> tuple[torch.Tensor, ...]:
        """Outputs of ref_kernel for a copy of the input."""
        return answered(self._compute, arguments, precision)

    def bound(self, arguments: tuple[Any, ...]) -> Callable[[], object]:
        """The call of ref_kernel."""
        return partial(self._compute, arguments)

    def _compute(self, arguments: tuple[Any, ...]) -> object:
        """Returned values of ref_kernel; it may write to its input."""
        return self._reference.ref_kernel(self._objects.restored(arguments[0]))

    def passes_own_rule(self, arguments: tuple[Any, ...], outputs: tuple[torch.Tensor, ...]) -> bool:
        """Whether the task's own check_implementation accepts an output; the check gets a copy of the input."""
        data = self._objects.restored(copied(arguments[0]))
        output = outputs[0] if len(outputs) == 1 else outputs
        return verdict_of(self._reference.check_implementation(data, output))[0]

    def _case(self, name: str) -> Mapping[str, Any]:
        kind, _, number = name.partition(" ")
        cases = json.loads(self._details.get(_LISTS.get(kind, ""), "[]"))
        if not number.isdigit() or not 0 < int(number) <= len(cases):
            raise UnavailableError(f"its task.yml has no {name}")
        found: Mapping[str, Any] = cases[int(number) - 1]
        return found


def verdict_of(returned: object) -> tuple[bool, str]:
    """The verdict in both conventions: a text that is empty for a right output, or a pair (bool, text).

    Raises:
        UnavailableError: it is neither.
    """
    match returned:
        case str():
            return not returned, returned
        case bool():
            return returned, ""
        case (bool() as passed, str() as message):
            return passed, message
    raise UnavailableError(f"check_implementation returned {type(returned).__name__}, neither a text nor a pair")
