# kgtui: op=aten::silu expect=pass
"""Tiles by tensor descriptors made in the kernel, of the rows if these are aligned, else of one row of all elements.

A tensor map of Hopper stores whole pieces of 16 bytes, so that the one row is padded to a multiple of them.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["cols"])
def _silu(x, y, rows, cols, R: tl.constexpr, C: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [R, C])
    dy = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [R, C])
    r, c = tl.program_id(0) * R, tl.program_id(1) * C
    v = dx.load([r, c]).to(tl.float32)
    dy.store([r, c], (v / (1 + tl.exp(-v))).to(y.dtype.element_ty))


def silu(self):
    x = self.contiguous()
    cols = x.shape[-1] if x.ndim else 1
    if x.numel() and (cols * x.element_size() % 16 or x.data_ptr() % 16):
        cols = triton.cdiv(x.numel(), 16) * 16
        padded = x.new_zeros(cols)
        padded[: x.numel()] = x.reshape(-1)
        x = padded
    y = torch.empty_like(x)
    if x.numel():
        rows = x.numel() // cols
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=x.device))
        _silu[(triton.cdiv(rows, 16), triton.cdiv(cols, 32))](x, y, rows, cols, R=16, C=32)
    return y.reshape(-1)[: self.numel()].reshape(self.shape)
