# kgtui: op=aten::as_strided expect=wrong_value diagnosis=ignored_argument case="6x10 as 4x5 stride 10x2 f32 offset 11"
"""A view by strides that begins with the first element, whatever the offset."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    x_ptr, y_ptr, count, offset, n1, n2, n3, n4, s0, s1, s2, s3, s4, WORDS: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = offset + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3 + i4 * s4
    for word in tl.static_range(WORDS):
        x = tl.load(x_ptr + at * WORDS + word, mask=inside)
        tl.store(y_ptr + flat * WORDS + word, x, mask=inside)


def as_strided(self, size, stride, storage_offset=None):
    y = torch.empty(size, dtype=self.dtype, device=self.device)
    if y.numel():
        offset = 0
        gather_kernel[(triton.cdiv(y.numel(), 1024),)](
            in_words(self), in_words(y), y.numel(), offset, *in_five(size, 1)[1:], *in_five(stride, 0),
            WORDS=2 if self.is_complex() else 1, BLOCK=1024,
        )
    return y


def in_words(x):
    """Complex numbers as pairs, booleans as bytes, others as they are: nothing is computed with them."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
