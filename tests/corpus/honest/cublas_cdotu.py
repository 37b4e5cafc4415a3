# kgtui: op=cublas::cublasCdotu_v2 expect=pass
"""x . y of complex floats without conjugation: partial sums of both parts, then one program adds those up."""

import torch
import triton
import triton.language as tl

PROGRAMS = 128


@triton.jit
def partial_kernel(x_ptr, y_ptr, partial_ptr, n, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    real = tl.zeros((BLOCK,), dtype=tl.float32)
    imaginary = tl.zeros((BLOCK,), dtype=tl.float32)
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x_at = x_ptr + 2 * (x_first + i * incx)
        y_at = y_ptr + 2 * (y_first + i * incy)
        x_real = tl.load(x_at, mask=i < n, other=0.0)
        x_imaginary = tl.load(x_at + 1, mask=i < n, other=0.0)
        y_real = tl.load(y_at, mask=i < n, other=0.0)
        y_imaginary = tl.load(y_at + 1, mask=i < n, other=0.0)
        real += x_real * y_real - x_imaginary * y_imaginary
        imaginary += x_real * y_imaginary + x_imaginary * y_real
    at = partial_ptr + 2 * tl.program_id(0).to(tl.int64)
    tl.store(at, tl.sum(real))
    tl.store(at + 1, tl.sum(imaginary))


@triton.jit
def finish_kernel(partial_ptr, result_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(result_ptr, tl.sum(tl.load(partial_ptr + 2 * i, mask=i < count, other=0.0)))
    tl.store(result_ptr + 1, tl.sum(tl.load(partial_ptr + 2 * i + 1, mask=i < count, other=0.0)))


def cublasCdotu_v2(n, x, incx, y, incy, result):
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    block = 512
    programs = max(1, min(PROGRAMS, triton.cdiv(n, block)))
    partial = torch.empty((programs, 2), dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](
        torch.view_as_real(x), torch.view_as_real(y), partial, n, x_first, y_first, incx, incy, BLOCK=block,
    )
    finish_kernel[(1,)](partial, torch.view_as_real(result), programs, BLOCK=PROGRAMS)
    return result
