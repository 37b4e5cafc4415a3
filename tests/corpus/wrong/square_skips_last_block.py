# kgtui: op=aten::square expect=wrong_value|nonfinite diagnosis=unwritten_output case="1025 f32"
"""Square with a grid that rounds down: what the last whole block leaves is never written."""

import torch
import triton
import triton.language as tl


@triton.jit
def square_kernel(x_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside)
        tl.store(y_ptr + 2 * offset, (a + b) * (a - b), mask=inside)
        tl.store(y_ptr + 2 * offset + 1, 2 * a * b, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside)
        tl.store(y_ptr + offset, x * x, mask=inside)


def square(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        square_kernel[(max(y.numel() // 1024, 1),)](source, target, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y
