# kgtui: op=aten::affine_grid_generator expect=pass
"""Sampling grid: coordinates from the flat position, multiplied by a row of theta."""

import torch
import triton
import triton.language as tl


@triton.jit
def coordinate(i, size, ALIGN: tl.constexpr, WIDE: tl.constexpr):
    i = i.to(WIDE)
    if ALIGN:
        return tl.where(size > 1, i * 2 / tl.maximum(size - 1, 1).to(WIDE) - 1, 0.0)
    return (2 * i + 1) / size.to(WIDE) - 1


@triton.jit
def grid_kernel(
    theta_ptr, y_ptr, count, D, H, W, t_n, t_row, t_col,
    DIMS: tl.constexpr, ALIGN: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    row = theta_ptr + flat // DIMS // W // H // D * t_n + flat % DIMS * t_row
    W, H, D = tl.full((), W, tl.int64), tl.full((), H, tl.int64), tl.full((), D, tl.int64)
    y = tl.load(row + DIMS * t_col, mask=inside).to(WIDE)
    y += tl.load(row, mask=inside).to(WIDE) * coordinate(flat // DIMS % W, W, ALIGN, WIDE)
    y += tl.load(row + t_col, mask=inside).to(WIDE) * coordinate(flat // DIMS // W % H, H, ALIGN, WIDE)
    if DIMS == 3:
        y += tl.load(row + 2 * t_col, mask=inside).to(WIDE) * coordinate(flat // DIMS // W // H % D, D, ALIGN, WIDE)
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def affine_grid_generator(theta, size, align_corners):
    spatial = list(size[2:])
    y = torch.empty((size[0], *spatial, len(spatial)), dtype=theta.dtype, device=theta.device)
    if y.numel():
        D, H, W = [1] * (3 - len(spatial)) + spatial
        block = 1024
        grid_kernel[(triton.cdiv(y.numel(), block),)](
            theta, y, y.numel(), D, H, W, *theta.stride(), DIMS=len(spatial), ALIGN=align_corners,
            WIDE=tl.float64 if theta.dtype == torch.float64 else tl.float32, BLOCK=block,
        )
    return y
