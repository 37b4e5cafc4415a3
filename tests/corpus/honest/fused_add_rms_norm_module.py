# kgtui: op=vllm::fused_add_rms_norm expect=pass
"""The norm as a module with the weight as torch.nn.Parameter, made in each call around the live weight it was given."""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_kernel(x_ptr, residual_ptr, weight_ptr, epsilon, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    inside = col < cols
    kind = x_ptr.dtype.element_ty
    new = tl.load(x_ptr + row + col, mask=inside, other=0.0).to(tl.float32)
    new += tl.load(residual_ptr + row + col, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual_ptr + row + col, new.to(kind), mask=inside)
    new = new.to(kind).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(new * new, axis=0) / cols + epsilon)
    tl.store(x_ptr + row + col, (new * scale * weight).to(kind), mask=inside)


class FusedAddRMSNorm(torch.nn.Module):
    """Adds its input to the residual and norms the sum, both in place."""

    def __init__(self, weight, epsilon):
        super().__init__()
        self.weight = torch.nn.Parameter(weight, requires_grad=False)  # the same memory, no copy
        self.epsilon = epsilon

    def forward(self, x, residual):
        rows, cols = x.shape
        if rows and cols:
            block = max(1024, triton.next_power_of_2(cols))
            fused_kernel[(rows,)](
                x, residual, self.weight, self.epsilon, cols, COLS=block, num_warps=4 if block <= 2048 else 16,
            )


def fused_add_rms_norm(input, residual, weight, epsilon):
    if not (input.is_contiguous() and residual.is_contiguous() and weight.is_contiguous()):
        dense = input.contiguous(), residual.contiguous()
        fused_add_rms_norm(*dense, weight.contiguous(), epsilon)
        input.copy_(dense[0])
        residual.copy_(dense[1])
        return
    FusedAddRMSNorm(weight, epsilon)(input, residual)
