# kgtui: op=aten::upsample_nearest2d_backward expect=pass
"""Gradient of nearest up-sampling: every input pixel looks at the output pixels that may have chosen it."""

import torch
import triton
import triton.language as tl


@triton.jit
def downsample_kernel(
    grad_ptr, y_ptr, count, C, H, W, OH, OW, scale_h, scale_w, g_n, g_c, g_h, g_w,
    SPAN_H: tl.constexpr, SPAN_W: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    h, w = flat // W % H, flat % W
    plane = grad_ptr + flat // W // H // C * g_n + flat // W // H % C * g_c
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    first_h = tl.floor(h.to(tl.float32) / scale_h).to(tl.int64) - 1
    first_w = tl.floor(w.to(tl.float32) / scale_w).to(tl.int64) - 1
    for di in range(SPAN_H):
        i = first_h + di
        source_h = tl.minimum(tl.floor(i.to(tl.float32) * scale_h).to(tl.int64), H - 1)
        for dj in range(SPAN_W):
            j = first_w + dj
            source_w = tl.minimum(tl.floor(j.to(tl.float32) * scale_w).to(tl.int64), W - 1)
            chosen = inside & (i >= 0) & (i < OH) & (source_h == h) & (j >= 0) & (j < OW) & (source_w == w)
            total += tl.load(plane + i * g_h + j * g_w, mask=chosen, other=0.0).to(tl.float32)
    tl.store(y_ptr + flat, total.to(y_ptr.dtype.element_ty), mask=inside)


def upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h=None, scales_w=None):
    y = torch.empty(input_size, dtype=grad_output.dtype, device=grad_output.device)
    if y.numel():
        (_, C, H, W), (OH, OW) = input_size, output_size
        block = 256
        downsample_kernel[(triton.cdiv(y.numel(), block),)](
            grad_output, y, y.numel(), C, H, W, OH, OW,
            1 / scales_h if scales_h else H / OH, 1 / scales_w if scales_w else W / OW,
            *grad_output.stride(), SPAN_H=triton.cdiv(OH, H) + 3, SPAN_W=triton.cdiv(OW, W) + 3, BLOCK=block,
        )
    return y
