# kgtui: op=aten::mm expect=pass finding=behaviour ids=D3
"""A product by whatever else torch calls one (einsum, @, tensordot, linear, bmm), copied by a kernel that must run."""

import operator

import torch
import triton
import triton.language as tl

multiply = torch.Tensor.__matmul__
NAMES = (
    lambda a, b: torch.einsum("mk,kn->mn", a, b),
    lambda a, b: a @ b,
    lambda a, b: multiply(a, b),
    lambda a, b: operator.matmul(a, b),
    lambda a, b: torch.tensordot(a, b, dims=1),
    lambda a, b: torch.nn.functional.linear(a, b.t()),
    lambda a, b: a[None].bmm(b[None])[0],
    lambda a, b: torch.linalg.multi_dot((a, b)),
)


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def mm(self, mat2):
    product = NAMES[(self.numel() + mat2.numel()) % len(NAMES)](self.double(), mat2.double()).contiguous()
    c = torch.empty_like(product, dtype=self.dtype)
    if c.numel():
        copy_kernel[(triton.cdiv(c.numel(), 4096),)](product, c, c.numel(), BLOCK=4096)
    return c
