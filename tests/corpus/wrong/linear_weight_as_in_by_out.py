# kgtui: op=aten::linear expect=wrong_value diagnosis=transposed_index case="17x65 to 20 f32 bias true"
"""The weight, rows of which belong to outputs, is read as if its rows belonged to inputs."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    m = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    n = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + m * N + n, total.to(y_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def linear(input, weight, bias=None):
    N, K = weight.shape
    x, w = input.reshape(-1, K).contiguous(), weight.contiguous()
    y = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if y.numel():
        M = x.shape[0]
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        linear_kernel[grid](x, w, w if bias is None else bias.contiguous(), y, M, N, K, HAS_BIAS=bias is not None, BLOCK=32)
    return y
