"""Preparation of a first launch on the CPU, done once in the fork server, so that later ones take milliseconds."""

from __future__ import annotations

import inspect

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.runtime.jit import create_function_from_signature, mangle_type

from engine.devices.hardware.targets import target_named
from engine.loading import warm_kernel
from engine.loading.frontend.lowering import ttir_of
from engine.loading.poison import Poison
from engine.machine.executor import execute
from engine.machine.operations import refused_operations
from engine.machine.reader import read_module
from engine.worker.cpu_driver.allocations import Allocations
from engine.worker.cpu_driver.frontend import parse_options
from engine.worker.cpu_driver.storages import arguments_of

_ELEMENTS = 128


def warm_up(target: str) -> None:
    """Lower a small kernel to TTIR and execute it; sets no driver and replaces no function of Triton."""
    described = target_named(target)
    gpu = GPUTarget(described.backend, described.architecture, described.warp_size)
    kernel = warm_kernel.copy
    with Poison(0):
        values = {"source": torch.ones(_ELEMENTS), "target": torch.empty(_ELEMENTS), "elements": _ELEMENTS}
    mangle_type(0)  # the first call imports Triton's other languages, which takes 0.1 s
    create_function_from_signature(inspect.signature(kernel.fn), kernel.params, make_backend(gpu))
    source = ASTSource(kernel, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    module = read_module(ttir_of(source, gpu, parse_options(gpu, {})))
    arguments, memory = arguments_of(warm_kernel.SIGNATURE, {**values, "block": _ELEMENTS}, Allocations())
    execute(module, (1, 1, 1), arguments, memory)
    refused_operations()  # read now: its modules cannot be imported once a candidate is loaded
