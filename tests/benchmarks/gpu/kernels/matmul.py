"""c = a @ b in tiles, accumulated in float32; sizes are multiples of the tile."""

import torch
import triton
import triton.language as tl

TILE_M, TILE_N, TILE_K = 128, 128, 64


@triton.jit
def matmul_tiles(a_ptr, b_ptr, c_ptr, n, k, tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr):
    row = (tl.program_id(0) * tile_m + tl.arange(0, tile_m)).to(tl.int64)[:, None]
    col = (tl.program_id(1) * tile_n + tl.arange(0, tile_n)).to(tl.int64)[None, :]
    inner = tl.arange(0, tile_k)
    total = tl.zeros((tile_m, tile_n), dtype=tl.float32)
    for start in range(0, k, tile_k):
        a = tl.load(a_ptr + row * k + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner).to(tl.int64)[:, None] * n + col)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + row * n + col, total.to(c_ptr.dtype.element_ty))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a: (m, k), b: (k, n), contiguous → (m, n)."""
    (m, k), n = a.shape, b.shape[1]
    if m % TILE_M or n % TILE_N or k % TILE_K:
        raise ValueError(f"sizes {m} x {k} x {n} are no multiples of {TILE_M} x {TILE_K} x {TILE_N}")
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    grid = (m // TILE_M, n // TILE_N)
    matmul_tiles[grid](a, b, c, n, k, tile_m=TILE_M, tile_n=TILE_N, tile_k=TILE_K, num_warps=8, num_stages=3)
    return c
