# kgtui: op=aten::softmax expect=pass
"""Softmax, a row per program, under @triton.autotune with a hook that keeps the blocks that hold a whole row."""

import torch
import triton
import triton.language as tl


def whole_rows(configs, named_args, **kwargs):
    """Blocks that hold the row and are less than four times as long as it, the smallest first; or just the largest."""
    cols = named_args["cols"]
    fitting = [config for config in configs if cols <= config.kwargs["COLS"] < 4 * max(cols, 256)]
    return sorted(fitting, key=lambda config: config.kwargs["COLS"]) or configs[-1:]


@triton.autotune(
    configs=[
        triton.Config({"COLS": 256}, num_warps=1),
        triton.Config({"COLS": 256}, num_warps=4),
        triton.Config({"COLS": 1024}, num_warps=4),
        triton.Config({"COLS": 1024}, num_warps=8),
        triton.Config({"COLS": 8192}, num_warps=8),
        triton.Config({"COLS": 8192}, num_warps=16),
        triton.Config({"COLS": 131072}, num_warps=32),
    ],
    key=["cols"],
    prune_configs_by={"early_config_prune": whole_rows},
)
@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype).transpose(dim, -1)
    shape = x.shape
    assert shape[-1] <= 131072, f"softmax: rows of at most 131072 elements, got {shape[-1]}"
    x = x.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        softmax_kernel[(y.numel() // shape[-1],)](x, y, shape[-1])
    return y.transpose(dim, -1)
