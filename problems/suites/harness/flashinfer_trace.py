"""flashinfer-trace: a workload gives the axes, the definition the shapes; `run` returns a candidate's outputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.loading.loader import import_file
from engine.model.problems.suite_origin import FP4, Precision
from engine.reference.harness import UnavailableError
from problems.suites.blobs import stored_name
from problems.suites.fp4 import NAMES
from problems.suites.harness.devices import Seeds, redirect_cuda, rewrite_folder
from problems.suites.harness.values import answered
from problems.suites.texts.constraints import Kind


def open_task(file: Path, details: Mapping[str, str], device: torch.device) -> TraceTask:
    """Import the reference; `details` has the schema of the definition and its workloads."""
    rewrite_folder(file.parent, device)
    redirect_cuda(device)
    seeds = Seeds()
    schema = json.loads(details["schema"])
    workloads = {str(one["name"]): one for one in json.loads(details["workloads"])}
    module = import_file(file, file.parent, name=file.stem)
    return TraceTask(module, schema, workloads, seeds, device, folder=file.parent)


class TraceTask:
    """A definition whose reference has been imported."""

    def __init__(
        self,
        reference: ModuleType,
        schema: Mapping[str, Any],
        workloads: Mapping[str, Mapping[str, Any]],
        seeds: Seeds,
        device: torch.device,
        *,
        folder: Path,
    ) -> None:
        self._reference, self._schema, self._workloads = reference, schema, workloads
        self._seeds, self._device, self._folder = seeds, device, folder
        self.notes: tuple[str, ...] = ()

    def needed_bytes(self) -> dict[str, int]:
        """The bytes of the inputs and outputs of each workload."""
        return {name: self._bytes_of(workload) for name, workload in self._workloads.items()}

    def draw(self, *, seed: int, weight_seed: int, case: str) -> tuple[Any, ...]:
        """The inputs of a workload in the order of the definition, then output tensors for the candidate to fill.

        Raises:
            UnavailableError: the workload does not exist, or an axis has no size.
        """
        workload = self._workload(case)
        self._seeds.start(seed)
        given = workload.get("inputs", {})
        inputs = [self._input(name, given[name], workload) for name in self._schema["inputs"]]
        return (*inputs, *(self._empty(spec, workload) for spec in self._schema["outputs"].values()))

    def expected(self, arguments: tuple[Any, ...], precision: Precision) -> tuple[torch.Tensor, ...]:
        """Outputs of run for copies of the inputs, in the order of the outputs.

        Raises:
            ValueError: an output in the task's own precision does not match the definition.
        """
        count = len(self._schema["inputs"])
        found = answered(self._run, arguments[:count], precision)
        if precision is Precision.OWN:
            self._require_outputs(found, arguments[count:])
        return found

    def _require_outputs(self, found: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> None:
        names = list(self._schema["outputs"])
        if len(found) != len(wanted):
            raise ValueError(f"run returns {len(found)} outputs, the definition has {len(wanted)}")
        for name, one, other in zip(names, found, wanted, strict=True):
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                form, wanted_form = (f"{value.dtype} {tuple(value.shape)}" for value in (one, other))
                raise ValueError(f"run returns {name} as {form}, the definition has {wanted_form}")

    def bound(self, arguments: tuple[Any, ...]) -> Callable[[], object]:
        """The call of run on the inputs."""
        return partial(self._run, arguments[: len(self._schema["inputs"])])

    def _run(self, inputs: tuple[Any, ...]) -> object:
        """Returned values of run; for a dict its values in the order of the outputs; bytes for fp4."""
        specs = self._schema["inputs"].values()
        returned = self._reference.run(*(_given(value, spec) for value, spec in zip(inputs, specs, strict=True)))
        found = [returned[name] for name in self._schema["outputs"]] if isinstance(returned, dict) else returned
        if isinstance(found, torch.Tensor):
            return _octets(found)
        return [_octets(value) for value in found] if isinstance(found, list | tuple) else found

    def _workload(self, name: str) -> Mapping[str, Any]:
        if name not in self._workloads:
            raise UnavailableError(f"the definition has no workload {name}")
        return self._workloads[name]

    def _input(self, name: str, way: Mapping[str, Any], workload: Mapping[str, Any]) -> Any:
        spec = self._schema["inputs"][name]
        if way["type"] == "scalar":
            return way["value"]
        shape, dtype = self._shape(spec, workload), _dtype(spec)
        if way["type"] == "safetensors":
            return self._stored(way, shape, dtype)
        if name in self._schema["determined"]:
            kind, axis = self._schema["determined"][name]
            bound = self._size(axis, workload)
            return _drawn_integers(Kind(kind), shape[0], bound).to(dtype=dtype, device=self._device)
        if spec["dtype"] in NAMES:  # every byte has two finite values
            return torch.randint(0, 256, shape, dtype=torch.uint8, device=self._device)
        if dtype is torch.bool:
            return torch.randint(0, 2, shape, dtype=dtype, device=self._device)
        drawn = torch.randn(shape, dtype=torch.float32, device=self._device).to(dtype)
        return drawn if spec["shape"] is not None else float(drawn)

    def _stored(self, way: Mapping[str, Any], shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of the dataset.

        Raises:
            UnavailableError: the file has no such tensor, or its shape or dtype differs from the definition.
        """
        from safetensors import SafetensorError, safe_open

        path, key = str(way["path"]), str(way["tensor_key"])
        try:
            with safe_open(self._folder / stored_name(path), framework="pt") as file:
                if key not in file.keys():  # noqa: SIM118  # it is no mapping
                    raise UnavailableError(f"{path} has no tensor {key!r}")
                found: torch.Tensor = file.get_tensor(key)
        except SafetensorError as error:
            raise UnavailableError(f"{path} is not a safetensors file: {error}") from error
        found = _octets(found)
        if tuple(found.shape) != shape or found.dtype is not dtype:
            raise UnavailableError(f"{key} in {path} is {found.dtype} {tuple(found.shape)}, not {dtype} {shape}")
        return found.to(self._device, copy=True)  # copied: the read tensor shares the memory of its whole file

    def _empty(self, spec: Mapping[str, Any], workload: Mapping[str, Any]) -> torch.Tensor:
        return torch.zeros(self._shape(spec, workload), dtype=_dtype(spec), device=self._device)

    def _shape(self, spec: Mapping[str, Any], workload: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(self._sizes(spec, workload))

    def _sizes(self, spec: Mapping[str, Any], workload: Mapping[str, Any]) -> Iterator[int]:
        yield from (self._size(axis, workload) for axis in spec["shape"] or ())

    def _size(self, axis: str, workload: Mapping[str, Any]) -> int:
        fixed = self._schema["axes"].get(axis, {}).get("value")
        size = workload["axes"].get(axis) if fixed is None else fixed
        if not isinstance(size, int):
            raise UnavailableError(f"its axis {axis!r} has no size in workload {workload['name']}")
        return size

    def _bytes_of(self, workload: Mapping[str, Any]) -> int:
        specs = (*self._schema["inputs"].values(), *self._schema["outputs"].values())
        return sum(torch.Size(self._shape(spec, workload)).numel() * _dtype(spec).itemsize for spec in specs)


def _drawn_integers(kind: Kind, count: int, bound: int) -> torch.Tensor:
    """`count` integers of this kind below, up to or ending with `bound`, from torch's generator.

    Offsets leave no part empty where there are enough elements for all parts.

    Raises:
        UnavailableError: no such integers exist.
    """
    if count and bound < (kind is not Kind.OFFSETS):
        raise UnavailableError(f"there are no {kind} for a size of {bound}")
    match kind:
        case Kind.LENGTHS:
            return torch.randint(1, bound + 1, (count,))
        case Kind.INDICES if count <= bound:
            return torch.randperm(bound)[:count]
        case Kind.INDICES:
            return torch.randint(0, bound, (count,))
    if count < 2:
        raise UnavailableError(f"{count} offsets have no start and end")
    inner = count - 2
    cuts = torch.randperm(bound - 1)[:inner] + 1 if inner < bound else torch.randint(0, bound + 1, (inner,))
    return torch.cat((torch.tensor([0]), cuts.sort().values, torch.tensor([bound])))


def _octets(value: Any) -> Any:  # Any: whatever a reference returns
    """The bytes of a tensor of fp4; every other value as it is."""
    is_fp4 = isinstance(value, torch.Tensor) and str(value.dtype) == f"torch.{FP4}"
    return value.view(torch.uint8) if is_fp4 else value


def _given(value: Any, spec: Mapping[str, Any]) -> Any:  # Any: an input
    """An input as the reference gets it: of torch's type for fp4 if its definition says so."""
    return value.view(getattr(torch, FP4)) if spec["dtype"] in NAMES else value


def _dtype(spec: Mapping[str, Any]) -> torch.dtype:
    """The dtype of an input or output between processes, uint8 for fp4."""
    if spec["dtype"] in NAMES:
        return torch.uint8
    found = getattr(torch, str(spec["dtype"]), None)
    if not isinstance(found, torch.dtype):
        raise UnavailableError(f"torch has no dtype {spec['dtype']}")
    return found
