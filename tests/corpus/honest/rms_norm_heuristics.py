# kgtui: op=vllm::rms_norm expect=pass
"""A row-wise norm in the manner of libraries: heuristics without autotuning, and an entry that returns what it wrote."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_BIAS": lambda args: args["b_ptr"] is not None})
@triton.heuristics({"HAS_GATE": lambda args: args["z_ptr"] is not None})
@triton.jit
def norm_rows(
    x_ptr, y_ptr, w_ptr, b_ptr, z_ptr, rstd_ptr, x_stride, y_stride, z_stride, cols, epsilon,
    COLS: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_GATE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    inside = col < cols
    x = tl.load(x_ptr + row * x_stride + col, mask=inside, other=0.0).to(tl.float32)
    if HAS_GATE:
        z = tl.load(z_ptr + row * z_stride + col, mask=inside, other=0.0).to(tl.float32)
        x *= z * tl.sigmoid(z)
    rstd = 1 / tl.sqrt(tl.sum(x * x, axis=0) / cols + epsilon)
    tl.store(rstd_ptr + row, rstd)
    y = x * rstd * tl.load(w_ptr + col, mask=inside, other=0.0).to(tl.float32)
    if HAS_BIAS:
        y += tl.load(b_ptr + col, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * y_stride + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def norm_forward(x, weight, bias, epsilon, z=None, out=None):
    rows, cols = x.shape
    out = torch.empty_like(x) if out is None else out
    rstd = torch.empty((rows,), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(cols)
    num_warps = min(max(block // 256, 1), 8)
    if rows:
        norm_rows[(rows,)](
            x, out, weight, bias, z, rstd, x.stride(0), out.stride(0), z.stride(0) if z is not None else 0, cols,
            epsilon, COLS=block, num_warps=num_warps,
        )  # fmt: skip
    return out, rstd


def rms_norm(out, input, weight, epsilon):
    if {out.stride(-1), input.stride(-1), weight.stride(-1)} == {1}:
        return norm_forward(input, weight, None, epsilon, out=out)[0]
    return out.copy_(norm_forward(input.contiguous(), weight.contiguous(), None, epsilon)[0])
