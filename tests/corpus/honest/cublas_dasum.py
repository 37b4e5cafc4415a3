# kgtui: op=cublas::cublasDasum_v2 expect=pass
"""Sum of absolute values in two steps: a partial sum for each program, then one program adds those up."""

import torch
import triton
import triton.language as tl

PROGRAMS = 128


@triton.jit
def partial_kernel(x_ptr, partial_ptr, n, incx, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.abs(tl.load(x_ptr + i * incx, mask=i < n, other=0.0))
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total))


@triton.jit
def finish_kernel(partial_ptr, result_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(result_ptr, tl.sum(tl.load(partial_ptr + i, mask=i < count, other=0.0)))


def cublasDasum_v2(n, x, incx, result):
    n = n if incx > 0 else 0
    block = 1024
    programs = max(1, min(PROGRAMS, triton.cdiv(n, block)))
    partial = torch.empty(programs, dtype=torch.float64, device=x.device)
    partial_kernel[(programs,)](x, partial, n, incx, BLOCK=block)
    finish_kernel[(1,)](partial, result, programs, BLOCK=PROGRAMS)
    return result
