"""Histogram for GPU MODE: fills the buffer of the input and returns it."""

import torch
import triton
import triton.language as tl
from task import input_t, output_t


@triton.jit
def _hist(v_ptr, o_ptr, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(v_ptr + at, mask=at < n, other=255)
    b = tl.program_id(0)
    tl.store(o_ptr + b, tl.sum((v == b).to(tl.int64)))


def custom_kernel(data: input_t) -> output_t:
    values, output = data
    _hist[(16,)](values, output, values.numel(), B=triton.next_power_of_2(values.numel()))
    return output
