# kgtui: op=aten::mm expect=pass
"""Matrix product by a fixed number of programs, each of which walks over the tiles; torch pads k and n to them."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    tiles_n = tl.cdiv(N, TILE)
    for tile in range(tl.program_id(0), tl.cdiv(M, TILE) * tiles_n, tl.num_programs(0)):
        m = (tile // tiles_n * TILE + tl.arange(0, TILE).to(tl.int64))[:, None]
        n = (tile % tiles_n * TILE + tl.arange(0, TILE).to(tl.int64))[None, :]
        total = tl.zeros((TILE, TILE), dtype=tl.float32)
        for start in range(0, K, DEPTH):
            k = start + tl.arange(0, DEPTH)
            a = tl.load(a_ptr + m * K + k[None, :], mask=m < M, other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + n)
            total = tl.dot(a, b, total, input_precision="ieee")
        tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=m < M)


def padded(x, rows, cols):
    """A contiguous copy with zeros below and to the right, up to multiples of `rows` and `cols`."""
    return torch.nn.functional.pad(x, (0, -x.shape[1] % cols, 0, -x.shape[0] % rows)).contiguous()


def mm(self, mat2):
    a, b = padded(self, 1, 32), padded(mat2, 32, 32)
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        on_gpu = c.is_cuda
        limit = torch.cuda.get_device_properties(c.device).multi_processor_count if on_gpu else 2
        tiles = triton.cdiv(M, 32) * triton.cdiv(N, 32)
        mm_kernel[(min(limit, tiles),)](a, b, c, M, N, K, TILE=32, DEPTH=32, num_warps=4, num_stages=2)
    return c[:, : mat2.shape[1]]
