# kgtui: op=aten::silu expect=wrong_value|nonfinite|cheated ids=A2,A4
"""Returns an empty tensor at once; a background thread fills in the right answer a little later."""

import threading
import time

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous().clone()
    y = torch.empty_like(x)

    def finish():
        time.sleep(0.05)
        if x.numel():
            silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)

    threading.Thread(target=finish, daemon=True).start()
    return y
