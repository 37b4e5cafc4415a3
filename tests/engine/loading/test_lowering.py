"""The TTIR of a kernel."""

from __future__ import annotations

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.loading import warm_kernel
from engine.loading.lowering import ttir_of
from engine.machine.reader import read_module


def test_ttir_of_a_kernel_is_a_module_of_its_name():
    target = GPUTarget("cuda", 90, 32)
    source = ASTSource(warm_kernel.copy, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    text = ttir_of(source, target, make_backend(target).parse_options({}))
    assert read_module(text).kernel.name == "copy"
