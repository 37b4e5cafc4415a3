"""Descriptors made on the host reach a kernel whole, or as fields where the target has no tensor maps."""

from __future__ import annotations

import numpy as np
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

from engine.loading.frontend.lowering import ttir_of
from engine.machine.executor import execute
from engine.machine.ir import Descriptor, Pointer, Scalar
from engine.machine.memory import Address, DescriptorArgument, Memory, Storage
from engine.machine.reader import read_module

SIGNATURE = {"source": "tensordesc<fp32[4, 8]>", "target": "tensordesc<fp32[4, 8]>", "row": "i32"}
VALUE = 1 + 2**-12


@triton.jit
def copy_block(source, target, row):
    target.store([row, 0], source.load([row, 0]))


def lowered(architecture: int) -> str:
    gpu = GPUTarget("cuda", architecture, 32)
    return str(ttir_of(ASTSource(copy_block, SIGNATURE, {}), gpu, make_backend(gpu).parse_options({})))


@pytest.mark.parametrize(("architecture", "kind"), [(80, Pointer), (90, Descriptor)])
def test_a_descriptor_is_executed_for_every_target(architecture: int, kind: type) -> None:
    module = read_module(lowered(architecture))
    assert isinstance(module.kernel.arguments[0].type, kind)
    held = np.arange(20, dtype=np.float32), np.full(20, -1, np.float32)
    descriptors = [described(number) for number in range(2)]
    execution = execute(module, (1, 1, 1), [*descriptors, 1], memory_of(held))
    assert execution.is_complete
    assert held[1].tolist() == [-1] * 5 + list(range(5, 20))


@pytest.mark.parametrize(("rounds", "expected"), [(True, 1.0), (False, VALUE)])
def test_descriptor_rounds_if_flag_is_set(rounds: bool, expected: float) -> None:
    held = np.full(20, VALUE, np.float32), np.zeros(20, np.float32)
    execute(read_module(lowered(90)), (1, 1, 1), [described(0, rounds=rounds), described(1), 0], memory_of(held))
    assert held[1].tolist() == [expected] * 20


def described(storage: int, *, rounds: bool = False) -> DescriptorArgument:
    """A matrix of 4 x 5."""
    return DescriptorArgument(base=Address(storage=storage), shape=(4, 5), strides=(5, 1), rounds_to_tf32=rounds)


def memory_of(held: tuple[np.ndarray, ...]) -> Memory:
    return Memory(
        [
            Storage(name=str(number), data=values.view(np.uint8), base=(number + 1) << 20, element=Scalar.F32)
            for number, values in enumerate(held)
        ]
    )
