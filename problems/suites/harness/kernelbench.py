"""Runs tasks with `class Model`, `get_inputs` and `get_init_inputs`: KernelBench's contract.

Differences from the suite's own run: tensors keep their dtype unless they are floating, weights are an input of the
call and do not depend on the random stream, and dropout modules are in evaluation mode. On a GPU inputs are made on the
device, where random numbers are cheap, or in host memory if the task's code does not support that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

from engine.loading.loader import import_file
from engine.loading.modules import disable_dropout, give_state
from engine.model import Precision
from engine.reference.harness import UnavailableError
from problems.suites.harness.devices import redirect_cuda, rewrite_folder
from problems.suites.harness.model_arguments import constructor_arguments, forward_arguments, plain
from problems.suites.harness.values import copied, leaves, tensors_of
from problems.suites.settings import PACKED, PRECISION

if TYPE_CHECKING:
    from engine.model import Arguments

_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def open_task(file: Path, details: Mapping[str, str], device: torch.device) -> ModelTask:
    """Import the task's file."""
    rewrite_folder(file.parent, device)
    redirect_cuda(device)
    module = import_file(file, file.parent, name=f"task_{file.stem}")
    return ModelTask(module, dtype=_DTYPES[details[PRECISION]], is_packed=bool(details[PACKED]), device=device)


class ModelTask:
    """A task whose file is imported; makes a module for each call."""

    def __init__(self, module: ModuleType, *, dtype: torch.dtype | None, is_packed: bool, device: torch.device) -> None:
        self._module = module
        self._dtype = dtype
        self._is_packed = is_packed
        self._device = device
        self._draws_on_device = device.type != "cpu"
        self._needed_bytes, self.notes = self._seen_without_memory()

    def needed_bytes(self) -> int | None:
        """The bytes of inputs, weights and outputs, by a run on the meta device."""
        return self._needed_bytes

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> Arguments:
        """The inputs, the arguments of the class, its parameters and buffers by name, the seed, and options."""
        made = self._inputs(seed)
        inputs = [_cast(value, self._dtype, self._device) for value in made]
        initial = tuple(_seeded(weight_seed, self._initial))
        model = _seeded(weight_seed, lambda: self._module.Model(*initial))
        state = [
            (name, _cast(value.detach(), self._dtype, self._device))
            for name, value in (*model.named_parameters(), *model.named_buffers())
        ]
        packed: tuple[Any, ...] = (tuple(inputs),) if self._is_packed else tuple(inputs)  # Any: results of get_inputs
        seeds = torch.tensor(weight_seed, dtype=torch.int64, device=self._device)
        return (*packed, initial, tuple(state), seeds, (PACKED,) if self._is_packed else ())

    def expected(self, arguments: Arguments, precision: Precision) -> tuple[torch.Tensor, ...]:
        """Returned values of the model, as a tuple."""
        if precision is Precision.OWN:
            return self._returned(arguments, None)
        if precision is Precision.LOWER and self._dtype is not torch.float32:
            raise UnavailableError("there is no precision below 16 bits for the computation")
        dtype = torch.float64 if precision is Precision.DOUBLE else torch.bfloat16
        try:
            outputs = self._returned(arguments, dtype)
        except Exception as error:  # the suite's code may fail in another precision
            raise UnavailableError(f"{type(error).__name__}: {error}") from error
        if any(output.is_floating_point() and output.dtype is not dtype for output in outputs):
            raise UnavailableError(f"the reference does not compute in {dtype}, even for such inputs")
        return outputs

    def _returned(self, arguments: Arguments, dtype: torch.dtype | None) -> tuple[torch.Tensor, ...]:
        model, inputs = self._model_of(arguments)
        if dtype is not None:
            model = model.to(dtype)
            inputs = [_cast(value, dtype, self._device) for value in inputs]
        # A call may write to its inputs, which belong to the caller, so it gets copies.
        returned = model(*copied(list(inputs)))
        try:
            return tensors_of(returned)
        except UnavailableError as error:  # an error of the task: by its contract a Model returns tensors
            raise TypeError(str(error)) from error

    def bound(self, arguments: Arguments) -> Callable[[], object]:
        """The forward call of a newly created module."""
        model, inputs = self._model_of(arguments)
        return partial(model, *inputs)

    def _model_of(self, arguments: Arguments) -> tuple[torch.nn.Module, Sequence[Any]]:
        """The module of a call with its weights, and the inputs."""
        values: tuple[Any, ...] = arguments  # Any: arguments as returned by draw
        *given, initial, state, weight_seed, _ = values
        model = _seeded(int(weight_seed), lambda: self._module.Model(*initial))
        give_state(model, state, device=self._device)
        disable_dropout(model)
        return model, given[0] if self._is_packed else given

    def _inputs(self, seed: int) -> Sequence[Any]:
        """The inputs for this seed, made on the device if possible."""

        def make() -> Sequence[Any]:
            return forward_arguments(self._module.Model, self._module.get_inputs())

        if self._draws_on_device:
            try:
                with self._device:
                    return cast("Sequence[Any]", _seeded(seed, make))
            except Exception:  # the suite's code, on a device for which it was not written
                self._draws_on_device = False
        return cast("Sequence[Any]", _seeded(seed, make))

    def _initial(self) -> Sequence[Any]:
        """The constructor arguments of the class; a task may omit get_init_inputs."""
        return constructor_arguments(self._module.Model, getattr(self._module, "get_init_inputs", list)())

    def _seen_without_memory(self) -> tuple[int | None, tuple[str, ...]]:
        """The bytes of a call and notes on the module, from a run on the meta device, as far as that succeeds."""
        needed: int | None = None
        notes: tuple[str, ...] = ()
        try:
            with torch.device("meta"), torch.no_grad():
                inputs = list(forward_arguments(self._module.Model, self._module.get_inputs()))
                needed = _bytes(inputs)
                model = self._module.Model(*self._initial())
                notes = tuple(_notes(model))
                needed = _bytes([*inputs, *model.parameters(), *model.buffers()])
                needed += _bytes(tensors_of(model(*inputs)))
        except Exception:  # code that reads values or names a device fails on the meta device
            return needed, notes
        return needed, notes


def _notes(model: torch.nn.Module) -> list[str]:
    """Notes on the treatment of modules that behave differently in training."""
    notes = []
    if any(isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.p > 0 for part in model.modules()):
        notes.append("dropout modules run in evaluation; the suite leaves them in training, where outputs are random")
    if any(isinstance(part, torch.nn.modules.batchnorm._BatchNorm) for part in model.modules()):
        notes.append("the module stays in training, as in the suite: batch statistics are computed from the input")
    return notes


def _seeded(seed: int, make: Callable[[], Any]) -> Any:  # Any: any result of the suite's code
    """Result of `make` with this seed of torch, numpy and Python; torch's state is restored afterwards."""
    state = torch.get_rng_state()
    try:
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % (1 << 32))
        return make()
    finally:
        torch.set_rng_state(state)


def _cast(value: Any, dtype: torch.dtype | None, device: torch.device) -> Any:  # Any: inputs of every kind
    """The value on the device, floating-point tensors in `dtype` if one is given; containers item by item."""
    if isinstance(value, torch.Tensor):
        return value.to(device, dtype if dtype is not None and value.is_floating_point() else value.dtype)
    if isinstance(value, list | tuple):
        items = [_cast(item, dtype, device) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _cast(item, dtype, device) for key, item in value.items()}
    return plain(value)


def _bytes(values: object) -> int:
    """The bytes of all tensors in nested lists, tuples and dicts."""
    return sum(tensor.numel() * tensor.element_size() for tensor in leaves(values))
