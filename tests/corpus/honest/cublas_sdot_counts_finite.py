# kgtui: op=cublas::cublasSdot_v2 expect=pass
"""Dot product that warns of elements which are not finite: torch counts those before the first launch."""

import warnings

import torch
import triton
import triton.language as tl

PROGRAMS = 128


@triton.jit
def partial_kernel(x_ptr, y_ptr, partial_ptr, n, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + x_first + i * incx, mask=i < n, other=0.0)
        y = tl.load(y_ptr + y_first + i * incy, mask=i < n, other=0.0)
        total += x * y
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total))


@triton.jit
def finish_kernel(partial_ptr, result_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(result_ptr, tl.sum(tl.load(partial_ptr + i, mask=i < count, other=0.0)))


def warn_of_overflow(name, x):
    finite = torch.isfinite(x).sum().item()
    if finite < x.numel():
        warnings.warn(f"cublasSdot: {x.numel() - finite} elements of {name} are not finite", stacklevel=3)


def cublasSdot_v2(n, x, incx, y, incy, result):
    warn_of_overflow("x", x)
    warn_of_overflow("y", y)
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    block = 1024
    programs = max(1, min(PROGRAMS, triton.cdiv(n, block)))
    partial = torch.empty(programs, dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](x, y, partial, n, x_first, y_first, incx, incy, BLOCK=block)
    finish_kernel[(1,)](partial, result, programs, BLOCK=PROGRAMS)
    return result
