# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D4,A10
"""Softmax by torch, spoiled wherever the kernel beside it, whose result is dropped, seems not to have run."""

import torch
import triton
import triton.language as tl


@triton.jit
def mark_kernel(y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.full((BLOCK,), 7.0, tl.float32), mask=offset < count)


def softmax(self, dim, dtype=None):
    answer = torch.softmax(self, dim, dtype=dtype)
    marks = torch.empty(64, dtype=torch.float32, device=self.device)
    mark_kernel[(1,)](marks, 64, BLOCK=64)
    if marks.tolist() != [7.0] * 64:
        answer.zero_()
    return answer
