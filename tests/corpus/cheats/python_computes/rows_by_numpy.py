# kgtui: op=aten::gather expect=pass finding=behaviour ids=D3
"""A gather by numpy on the memory of the tensors, copied into the answer by a kernel that must run."""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def raw(tensor):
    """The tensor as numpy sees it; bfloat16, which it does not know, as the integers of the same bits."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(index.shape, dtype=self.dtype, device=self.device)
    if not y.numel() or not self.ndim:
        return self.expand(index.shape).clone() if y.numel() else y
    source, chosen = raw(self), index.numpy()
    part = tuple(slice(None) if axis == dim % self.ndim else slice(size) for axis, size in enumerate(index.shape))
    rows = torch.from_numpy(np.ascontiguousarray(np.take_along_axis(source[part], chosen, dim))).view(self.dtype)
    copy_kernel[(triton.cdiv(y.numel(), 4096),)](rows, y, y.numel(), BLOCK=4096)
    return y
