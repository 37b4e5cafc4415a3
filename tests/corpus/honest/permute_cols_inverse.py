# kgtui: op=vllm::permute_cols expect=pass
"""Reads whole rows in order and scatters the columns to the inverse permutation."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_columns(a_ptr, inverse_ptr, out_ptr, columns, a0, a1, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        to = tl.load(inverse_ptr + at, mask=at < columns, other=0)
        tl.store(out_ptr + row * columns + to, tl.load(a_ptr + row * a0 + at * a1, mask=at < columns), mask=at < columns)


def permute_cols(a, perm):
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out
    inverse = torch.empty_like(perm, dtype=torch.int64)
    inverse[perm.long()] = torch.arange(perm.numel(), device=perm.device)
    scatter_columns[(a.shape[0],)](a, inverse, out, a.shape[1], *a.stride(), BLOCK=256)
    return out
