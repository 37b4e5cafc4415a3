"""MultiKernelBench: KernelBench's contract, with one list of inputs, or with groups of them made from a data file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from engine.loading.loader import import_file
from engine.reference.harness import UnavailableError
from problems.suites.harness.devices import rewrite_folder
from problems.suites.harness.kernelbench import ModelTask
from problems.suites.harness.kernelbench import open_task as open_model
from problems.suites.settings import PACKED

if TYPE_CHECKING:
    from engine.model import Arguments

_GROUPS = "get_input_groups"


def open_task(file: Path, details: Mapping[str, str], device: torch.device) -> ModelTask:
    """Import the task's file; its data file is in the same folder."""
    rewrite_folder(file.parent, device)
    if details["inputs"] != _GROUPS:
        return open_model(file, details, device)
    module = import_file(file, file.parent, name=f"task_{file.stem}")
    return GroupTask(module, dtype=None, is_packed=bool(details[PACKED]), device=device)


class GroupTask(ModelTask):
    """A task whose inputs come in groups; each keeps its own dtypes."""

    def __init__(self, module: ModuleType, *, dtype: None, is_packed: bool, device: torch.device) -> None:
        self._case = ""
        setattr(module, "get_inputs", self._group)  # noqa: B010 - the name by which the contract knows inputs
        super().__init__(module, dtype=dtype, is_packed=is_packed, device=device)

    def needed_bytes(self) -> int | None:
        """Unknown: the size of the groups is defined by their data file."""
        return None

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> Arguments:
        """The arguments with the inputs of a group, "group 2".

        Raises:
            UnavailableError: the group does not exist.
        """
        self._case = case
        return super().draw(seed=seed, weight_seed=weight_seed)

    def _group(self) -> Any:  # Any: inputs of every kind
        groups, number = self._module.get_input_groups(), self._case.removeprefix("group ")
        if not number.isdigit() or not 0 < int(number) <= len(groups):
            raise UnavailableError(f"it makes {len(groups)} groups of inputs, and no {self._case}")
        return groups[int(number) - 1]
