# kgtui: op=aten::_local_scalar_dense expect=pass
"""The element by way of a staging buffer: a kernel copies its bytes, and the framework reads the copy."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, WORDS: tl.constexpr):
    word = tl.arange(0, WORDS)
    tl.store(y_ptr + word, tl.load(x_ptr + word))


def _local_scalar_dense(self):
    words = 2 if self.dtype == torch.complex128 else 1
    word = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[self.element_size() // words]
    staged = torch.empty(1, dtype=self.dtype, device=self.device)
    copy_kernel[(1,)](self.reshape(1).view(word), staged.view(word), WORDS=words)
    return staged.item()
