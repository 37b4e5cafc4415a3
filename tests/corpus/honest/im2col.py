# kgtui: op=aten::im2col expect=pass
"""Sliding blocks as columns: every element of the answer computes its pixel, and is 0 outside of the image."""

import torch
import triton
import triton.language as tl


@triton.jit
def im2col_kernel(
    x_ptr, y_ptr, count, C, H, W, KH, KW, LH, LW, DH, DW, PH, PW, SH, SW, x_n, x_c, x_h, x_w,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    column, row = flat % LW, flat // LW % LH
    j = flat // LW // LH % KW
    i = flat // LW // LH // KW % KH
    c = flat // LW // LH // KW // KH % C
    n = flat // LW // LH // KW // KH // C
    h = row * SH + i * DH - PH
    w = column * SW + j * DW - PW
    is_pixel = inside & (h >= 0) & (h < H) & (w >= 0) & (w < W)
    x = tl.load(x_ptr + n * x_n + c * x_c + h * x_h + w * x_w, mask=is_pixel, other=0.0)
    tl.store(y_ptr + flat, x, mask=inside)


def im2col(self, kernel_size, dilation, padding, stride):
    (KH, KW), (DH, DW), (PH, PW), (SH, SW) = kernel_size, dilation, padding, stride
    image = self[None] if self.dim() == 3 else self
    N, C, H, W = image.shape
    LH = (H + 2 * PH - DH * (KH - 1) - 1) // SH + 1
    LW = (W + 2 * PW - DW * (KW - 1) - 1) // SW + 1
    y = torch.empty((N, C * KH * KW, LH * LW), dtype=self.dtype, device=self.device)
    if y.numel():
        block = 1024
        im2col_kernel[(triton.cdiv(y.numel(), block),)](
            image, y, y.numel(), C, H, W, KH, KW, LH, LW, DH, DW, PH, PW, SH, SW, *image.stride(), BLOCK=block,
        )
    return y[0] if self.dim() == 3 else y
