# kgtui: op=aten::mm expect=pass
"""Matrix product without a mask: torch pads both operands to whole tiles, and a view cuts the product back to size."""

import torch
import triton
import triton.language as tl

TILE = 64


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, N, K, SIDE: tl.constexpr, DEPTH: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * SIDE + tl.arange(0, SIDE))[:, None]
    n = (tl.program_id(1).to(tl.int64) * SIDE + tl.arange(0, SIDE))[None, :]
    total = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for start in range(0, K, DEPTH):
        k = start + tl.arange(0, DEPTH)
        a = tl.load(a_ptr + m * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + n)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty))


def padded(x):
    """A contiguous copy with zeros below and to the right, up to the next multiples of a tile."""
    rows, cols = (max(triton.cdiv(size, TILE), 1) * TILE for size in x.shape)
    return torch.nn.functional.pad(x, (0, cols - x.shape[1], 0, rows - x.shape[0])).contiguous()


def mm(self, mat2):
    a, b = padded(self), padded(mat2)
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    mm_kernel[(M // TILE, N // TILE)](a, b, c, N, K, SIDE=TILE, DEPTH=32, num_warps=4, num_stages=3)
    return c[: self.shape[0], : mat2.shape[1]]
