"""Launches of real `triton.JITFunction`s on the machine: Triton's frontend makes TTIR, nothing is compiled further."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import triton
from triton import runtime
from triton._C.libtriton import ir as triton_ir
from triton.compiler import ASTSource, make_backend

from engine.compiler.offline import OfflineDriver
from engine.devices.hardware.targets import target_named
from engine.machine.conflicts.warps import Warps
from engine.machine.executor import execute
from engine.machine.ir import Module, Scalar
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory, Storage
from engine.machine.reader import read_module
from engine.machine.results import Execution

ELEMENTS = {
    torch.float32: Scalar.F32,
    torch.float64: Scalar.F64,
    torch.float16: Scalar.F16,
    torch.bfloat16: Scalar.BF16,
    torch.int8: Scalar.I8,
    torch.uint8: Scalar.I8,
    torch.int16: Scalar.I16,
    torch.int32: Scalar.I32,
    torch.uint32: Scalar.I32,
    torch.int64: Scalar.I64,
    torch.bool: Scalar.I8,
}


class Launched:
    """The executions of a block under `launching`, in order."""

    def __init__(self) -> None:
        self.executions: list[Execution] = []
        self.texts: dict[Any, str] = {}
        self.modules: dict[Any, Module] = {}


@contextlib.contextmanager
def launching() -> Iterator[Launched]:
    """While it is open, launches run on the machine."""
    launched = Launched()

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        execution = _launch(self, args, grid, kwargs, launched)
        launched.executions.append(execution)
        if not execution.is_complete:
            raise RuntimeError(execution.findings[-1].message)

    before, runtime.JITFunction.run = runtime.JITFunction.run, run
    runtime.driver.set_active(OfflineDriver(target_named("sm_90")))
    try:
        yield launched
    finally:
        runtime.JITFunction.run = before


def _launch(kernel: Any, args: Any, grid: Any, kwargs: Any, launched: Launched) -> Execution:
    kwargs["debug"] = False
    for hook in kernel.pre_run_hooks:
        hook(*args, **kwargs)
    _, _, target, backend, binder = kernel.device_caches[0]
    bound, specialization, _ = binder(*args, **kwargs)
    options, signature, constexprs, attributes = kernel._pack_args(backend, kwargs, bound, specialization, None)
    key = (kernel, str(specialization), str(options))
    if key not in launched.modules:
        source = ASTSource(kernel, signature, constexprs, attributes)
        launched.texts[key] = text_of(source, target, options)
        launched.modules[key] = read_module(launched.texts[key])
    values = [
        value for kind, value in zip(signature.values(), bound.values(), strict=True) for value in _leaves(kind, value)
    ]
    if callable(grid):
        grid = grid(bound)
    sizes = (*grid, 1, 1)[:3] if isinstance(grid, tuple | list) else (grid, 1, 1)
    storages: dict[int, tuple[int, Storage]] = {}
    arguments = [_argument(value, storages) for value in values]
    memory = Memory([storage for _, storage in storages.values()])
    warps = Warps(count=options.num_warps)
    x, y, z = (int(size) for size in sizes)
    return execute(launched.modules[key], (x, y, z), arguments, memory, warps=warps)


def text_of(source: Any, target: Any, options: Any) -> str:
    """TTIR as the compiler leaves it for the stages behind."""
    backend = make_backend(target)
    context = triton_ir.context()
    triton_ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def _leaves(kind: Any, value: Any) -> Iterator[Any]:
    """The values that a kernel still takes at run time."""
    if isinstance(kind, tuple | list):
        for inner, part in zip(kind, value, strict=True):
            yield from _leaves(inner, part)
    elif kind != "constexpr":
        yield value


def _argument(value: Any, storages: dict[int, tuple[int, Storage]]) -> Argument:
    if isinstance(value, torch.Tensor):
        return _address(value, storages)
    if isinstance(value, triton.tools.tensor_descriptor.TensorDescriptor):
        base = _address(value.base, storages)
        return DescriptorArgument(base=base, shape=tuple(value.shape), strides=tuple(value.strides))
    if hasattr(value, "base") and hasattr(value, "data_ptr"):  # triton.reinterpret
        return _address(value.base, storages)
    return value


def _address(tensor: torch.Tensor, storages: dict[int, tuple[int, Storage]]) -> Address:
    held = tensor.untyped_storage()
    base = held.data_ptr() or (1 << 40) + len(storages) * 512
    if base not in storages:
        whole = torch.empty(0, dtype=torch.uint8).set_(held).numpy() if held.nbytes() else np.zeros(0, np.uint8)
        element = ELEMENTS.get(tensor.dtype, Scalar.I8)
        storage = Storage(name=f"tensor {len(storages)}", data=whole, base=base, element=element)
        storages[base] = (len(storages), storage)
    return Address(storage=storages[base][0], offset=tensor.storage_offset() * tensor.element_size())
