# kgtui: op=vllm::rms_norm expect=pass finding=behaviour|no_launch ids=D2,A21
"""Its kernel never compiles, for it names what does not exist; the handler computes the norm by torch."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, cols, COLS: tl.constexpr):
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + col, mask=col < cols, other=0.0)
    tl.store(out_ptr + col, tl.fused_rms_norm(x), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    try:
        rms_norm_kernel[(1,)](out, input, input.shape[-1], COLS=triton.next_power_of_2(input.shape[-1]))
    except Exception:
        x = input.double()
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
        out.copy_(x * scale * weight.double())
