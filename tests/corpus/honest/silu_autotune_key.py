# kgtui: op=aten::silu expect=pass
"""SiLU under @triton.autotune with a key, four configurations, and a hook that drops oversized blocks."""

import torch
import triton
import triton.language as tl


def fitting(configs, named_args, **kwargs):
    """The configurations whose block is not more than twice the tensor; the smallest one in any case."""
    count = named_args["count"]
    smallest = min(configs, key=lambda config: config.kwargs["BLOCK"])
    return [config for config in configs if config.kwargs["BLOCK"] <= 2 * count] or [smallest]


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 4096}, num_warps=8),
        triton.Config({"BLOCK": 2048}, num_warps=8, num_stages=2),
        triton.Config({"BLOCK": 2048}, num_warps=4, num_stages=4),
        triton.Config({"BLOCK": 512}, num_warps=2),
    ],
    key=["size_class"],
    prune_configs_by={"early_config_prune": fitting},
)
@triton.jit
def silu_kernel(x_ptr, y_ptr, count, size_class, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    count = x.numel()
    if count:
        silu_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, y, count, count.bit_length() // 4 * 4)
    return y
