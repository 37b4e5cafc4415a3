# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm under inference_mode of a weight that torch casts, with Welford's combination in tl.reduce."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    share = tl.where(n > 0, n_b / tl.maximum(n, 1.0), 0.0)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def kernel(out, x, w, eps_ptr, so, sx, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + row * sx + c, mask=m, other=0.0).to(tl.float32)
    mean, m2, count = tl.reduce((v, tl.zeros_like(v), m.to(tl.float32)), 0, merge)
    var = m2 / count + mean * mean
    # Differences of infinities are NaN, their squares are not.
    infinite = tl.sum((tl.abs(v) == float("inf")).to(tl.int32), axis=0) > 0
    var = tl.where(infinite, tl.sum(v * v, axis=0), var)
    r = tl.math.rsqrt(var + tl.load(eps_ptr))
    tl.store(out + row * so + c, (v * r * tl.load(w + c, mask=m)).to(out.dtype.element_ty), mask=m)


@torch.inference_mode()
def rms_norm(out, input, weight, epsilon):
    if input.numel() == 0:
        return None
    eps = torch.full((1,), epsilon, dtype=torch.float32, device=input.device)
    w = (weight if weight.dtype == torch.float32 else weight.to(torch.float32)).contiguous()
    x = input if input.stride(1) == 1 else input.contiguous()
    y = out if out.stride(1) == 1 else out.new_empty(out.shape)
    kernel[(x.size(0),)](y, x, w, eps, y.stride(0), x.stride(0), x.size(1), B=triton.next_power_of_2(x.size(1)))
    if y is not out:
        out.copy_(y)
    return None
