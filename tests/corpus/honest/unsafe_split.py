# kgtui: op=aten::unsafe_split expect=pass
"""All chunks in one launch: an element goes to the chunk that its coordinate along the dimension belongs to."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def split_kernel(x_ptr, y_ptr, count, length, inner, split, chunk, WORDS: tl.constexpr, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i = flat // inner % length
    outer = flat // inner // length
    at = i // split * chunk + (outer * split + i % split) * inner + flat % inner
    for word in tl.static_range(WORDS):
        x = tl.load(x_ptr + flat * WORDS + word, mask=inside)
        tl.store(y_ptr + at * WORDS + word, x, mask=inside)


def unsafe_split(self, split_size, dim=0):
    dim %= self.dim()
    length = self.shape[dim]
    chunks = max(1, triton.cdiv(length, split_size))
    before, after = self.shape[:dim], self.shape[dim + 1 :]
    y = torch.empty((chunks, *before, split_size, *after), dtype=self.dtype, device=self.device)
    if self.numel():
        split_kernel[(triton.cdiv(self.numel(), 1024),)](
            in_words(self.contiguous()), in_words(y), self.numel(), length, math.prod(after), split_size, y[0].numel(),
            WORDS=2 if self.is_complex() else 1, BLOCK=1024,
        )
    return [y[k].narrow(dim, 0, min(split_size, length - k * split_size)) for k in range(chunks)]


def in_words(x):
    """Complex numbers as pairs, booleans as bytes, others as they are: nothing is computed with them."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x
