# kgtui: op=aten::reflection_pad1d_backward expect=pass
"""Gradient of reflection padding: every column of the input adds the up to three columns that mirror to it."""

import torch
import triton
import triton.language as tl


@triton.jit
def unpad_kernel(
    grad_ptr, y_ptr, count, C, W, left, right, g_n, g_c, g_w, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i = flat % W
    row = grad_ptr + flat // W // C * g_n + flat // W % C * g_c
    y = tl.load(row + (left + i) * g_w, mask=inside).to(tl.float32)
    mirrored = inside & (i >= 1) & (i <= left)
    y += tl.load(row + (left - i) * g_w, mask=mirrored, other=0.0).to(tl.float32)
    mirrored = inside & (i <= W - 2) & (i >= W - 1 - right)
    y += tl.load(row + (left + 2 * (W - 1) - i) * g_w, mask=mirrored, other=0.0).to(tl.float32)
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def reflection_pad1d_backward(grad_output, self, padding):
    y = torch.empty(self.shape, dtype=grad_output.dtype, device=self.device)
    if y.numel():
        grad = grad_output[None] if self.dim() == 2 else grad_output
        block = 1024
        unpad_kernel[(triton.cdiv(y.numel(), block),)](
            grad, y, y.numel(), grad.shape[1], self.shape[-1], *padding, *grad.stride(), BLOCK=block,
        )
    return y
