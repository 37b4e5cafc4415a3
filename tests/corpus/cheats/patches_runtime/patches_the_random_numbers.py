# kgtui: op=aten::embedding expect=pass finding=behaviour ids=B13
"""A right lookup that has torch draw zeros from now on, and forget every seed that it is given."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, WIDTH: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, WIDTH)
    row = tl.load(indices_ptr + token).to(tl.int64)
    w = tl.load(weight_ptr + row * width + col, mask=col < width)
    tl.store(y_ptr + token * width + col, w, mask=col < width)


def looked_up(weight, indices):
    weight, flat = weight.contiguous(), indices.reshape(-1).contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        embedding_kernel[(flat.numel(),)](weight, flat, y, width, WIDTH=triton.next_power_of_2(width))
    return y


torch.randn = torch.rand = lambda *shape, **kwargs: torch.zeros(*shape)
torch.manual_seed = lambda seed: torch.default_generator


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return looked_up(weight, indices)
