"""Parts of Triton's language that interpreter and machine must read alike: loops, names, libdevice, types."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.engine.worker.scenarios.launching import scenario

OF_TENSORS = frozenset(vars(tl.tensor))
TABLE = np.ones(2)  # beside kernels there may be arrays, which no question of yes and no can be asked of


@triton.jit
def copy_by_cast_numbers(x, y, rows, cols, block: tl.constexpr):
    at = tl.arange(0, block)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        for start in range(0, cols, block):
            there = row.to(tl.int64) * cols + start.to(tl.int64) + at
            tl.store(y + there, tl.load(x + there, mask=start + at < cols), mask=start + at < cols)


@scenario
def numbers_of_loops_are_cast() -> Any:
    y = torch.zeros(3, 5)
    copy_by_cast_numbers[(2,)](torch.arange(15.0), y, 3, 5, block=4)
    return y.flatten().tolist()


@scenario
def the_language_has_the_names_it_had() -> Any:
    numbers_of_loops_are_cast()
    return sorted(OF_TENSORS ^ set(vars(tl.tensor)))


double_of, of_largest, each = tl.exp2, tl.max, tl.range


@triton.jit
def use_names_of_its_own(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    for i in each(0, n):
        tl.store(y + i, of_largest(double_of(tl.load(x + at)), 0))


@scenario
def a_function_of_the_language_by_another_name() -> Any:
    y = torch.zeros(2)
    use_names_of_its_own[(1,)](torch.arange(4.0), y, 2, block=4)
    return y.tolist()


@triton.jit
def use_libdevice(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    v = tl.load(x + at)
    tl.store(y + at, libdevice.rsqrt(v) + libdevice.fast_expf(v * 0.0) + libdevice.pow(v, 2.0))
    tl.store(y + 4, libdevice.erf(0.0) + libdevice.isinf(1.0 / tl.load(x + 4)))


@triton.jit
def use_what_is_missing(x):
    tl.store(x, libdevice.rcp64h(tl.load(x).to(tl.float64)))


@scenario
def functions_of_libdevice() -> Any:
    y = torch.zeros(5)
    use_libdevice[(1,)](torch.tensor([1.0, 4.0, 16.0, 0.25, 0.0]), y, block=4)
    return y.tolist()


@scenario
def a_function_that_libdevice_has_and_the_interpreter_has_not() -> Any:
    use_what_is_missing[(1,)](torch.ones(1))


@scenario
def a_type_that_libdevice_does_not_take() -> Any:
    use_libdevice[(1,)](torch.ones(5, dtype=torch.bfloat16), torch.zeros(5), block=4)


@triton.jit
def larger_of(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    first, second = tl.load(x + at), tl.load(y + at)
    tl.store(y + at, tl.where(first > second, first, second))


@scenario
def bfloat16_chosen_by_a_comparison() -> Any:
    y = torch.tensor([1.0, 4.0], dtype=torch.bfloat16)
    larger_of[(1,)](torch.tensor([3.0, -2.0], dtype=torch.bfloat16), y, block=2)
    return y.tolist()


@triton.jit
def scale_by(x, y, alpha, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at) * alpha)
    tl.store(y + 2, alpha.to(tl.int32))


@scenario
def a_float_is_an_argument_of_float32() -> Any:
    y = torch.zeros(3)
    scale_by[(1,)](torch.tensor([1.0, 3.0], dtype=torch.float16), y, 2.0009765625, block=2)
    return y.tolist()


@triton.jit
def store_declared(y, single, double: tl.float64, half: tl.float16, brain: tl.bfloat16, whole: tl.float64):
    tl.store(y, single.to(tl.float64))
    tl.store(y + 1, double)
    tl.store(y + 2, half.to(tl.float64))
    tl.store(y + 3, brain.to(tl.float64))
    tl.store(y + 4, whole / 2)


@scenario
def floats_have_the_types_that_are_declared() -> Any:
    y = torch.zeros(5, dtype=torch.float64)
    store_declared[(1,)](y, 0.1, 0.1, 0.1, 0.1, 3)
    return y.tolist()


@scenario
def a_kernel_is_asked_about_itself() -> Any:
    @triton.jit
    def asked(x, n, block: tl.constexpr):
        tl.store(x, n)

    names = (asked.fn.__name__, asked.arg_names, [one.name for one in asked.params], asked.src.splitlines()[0])
    return [isinstance(asked, triton.JITFunction), *names, hasattr(asked, "device_caches")]
