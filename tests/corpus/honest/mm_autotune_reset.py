# kgtui: op=aten::mm expect=pass
"""Split-k product under @triton.autotune: reset_to_zero clears the sums between measurements, stages and warps vary."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"TILE": 32, "DEPTH": 32, "PARTS": 2}, num_warps=2, num_stages=2),
        triton.Config({"TILE": 64, "DEPTH": 32, "PARTS": 1}, num_warps=4, num_stages=3),
        triton.Config({"TILE": 64, "DEPTH": 32, "PARTS": 4}, num_warps=4, num_stages=4),
        triton.Config({"TILE": 128, "DEPTH": 32, "PARTS": 1}, num_warps=8, num_stages=2),
    ],
    key=["M", "N", "K"],
    reset_to_zero=["sum_ptr"],
)
@triton.jit
def mm_kernel(a_ptr, b_ptr, sum_ptr, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr, PARTS: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE))[:, None]
    n = (tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(tl.program_id(2) * DEPTH, K, PARTS * DEPTH):
        k = start + tl.arange(0, DEPTH)
        a = tl.load(a_ptr + m * K + k[None, :], mask=m < M, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=n < N, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (m < M) & (n < N)
    if PARTS == 1:
        tl.store(sum_ptr + m * N + n, total, mask=inside)
    else:
        tl.atomic_add(sum_ptr + m * N + n, total, mask=inside, sem="relaxed")


def padded(x, rows, cols):
    """A contiguous copy with zeros below and to the right, up to multiples of `rows` and `cols`."""
    return torch.nn.functional.pad(x, (0, -x.shape[1] % cols, 0, -x.shape[0] % rows)).contiguous()


def mm(self, mat2):
    a, b = padded(self, 1, 32), padded(mat2, 32, 32)
    (M, K), N = a.shape, b.shape[1]
    total = torch.zeros((M, N), dtype=torch.float32, device=self.device)
    if total.numel() and K:
        mm_kernel[lambda meta: (triton.cdiv(M, meta["TILE"]), triton.cdiv(N, meta["TILE"]), meta["PARTS"])](
            a, b, total, M, N, K
        )
    return total[:, : mat2.shape[1]].to(self.dtype)
