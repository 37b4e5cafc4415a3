# kgtui: op=aten::mm expect=pass
"""Matrix product through tensor descriptors that are kept by address, shape and type: they say where, not what."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DESCRIPTORS = {}
TILE, DEPTH = 32, 32


@triton.jit
def mm_kernel(a_desc, b_desc, c_ptr, M, N, K, SIDE: tl.constexpr, STEP: tl.constexpr):
    first_m = tl.program_id(0) * SIDE
    first_n = tl.program_id(1) * SIDE
    total = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for start in range(0, K, STEP):
        total = tl.dot(a_desc.load([first_m, start]), b_desc.load([start, first_n]), total, input_precision="ieee")
    m = (first_m + tl.arange(0, SIDE).to(tl.int64))[:, None]
    n = (first_n + tl.arange(0, SIDE).to(tl.int64))[None, :]
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def addressable(x):
    """`x` or a copy of it as a descriptor needs it: rows without gaps that begin at multiples of 16 bytes."""
    unit = 16 // x.element_size()
    if x.stride(1) == 1 and x.stride(0) % unit == 0 and x.stride(0) >= x.shape[1] and x.data_ptr() % 16 == 0:
        return x
    cols = triton.cdiv(max(x.shape[1], 1), unit) * unit
    return torch.empty((x.shape[0], cols), dtype=x.dtype, device=x.device)[:, : x.shape[1]].copy_(x)


def descriptor(x, block):
    key = (x.data_ptr(), x.shape, x.stride(), x.dtype, block)
    if key not in DESCRIPTORS:
        if len(DESCRIPTORS) > 256:
            DESCRIPTORS.clear()
        DESCRIPTORS[key] = TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))
    return DESCRIPTORS[key]


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.zeros((M, N), dtype=self.dtype, device=self.device)
    if c.numel() and K:
        a, b = addressable(self), addressable(mat2)
        grid = (triton.cdiv(M, TILE), triton.cdiv(N, TILE))
        mm_kernel[grid](
            descriptor(a, (TILE, DEPTH)), descriptor(b, (DEPTH, TILE)), c, M, N, K,
            SIDE=TILE, STEP=DEPTH, num_warps=4, num_stages=2,
        )
    return c
