# kgtui: op=aten::cumsum expect=pass
"""Running sum by tl.associative_scan over pairs: each sum with the rounding error that it has gathered."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_sum(a, a_err, b, b_err):
    s = a + b
    bb = s - a
    err = (a - (s - bb)) + (b - bb)
    return s, a_err + b_err + err


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, cols, B: tl.constexpr, FLOAT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if FLOAT:
        carry = tl.zeros((), tl.float32)
        carry_err = tl.zeros((), tl.float32)
    else:
        carry = tl.zeros((), tl.int64)
        carry_err = carry
    for start in range(0, cols, B):
        col = start + tl.arange(0, B)
        mask = col < cols
        x = tl.load(x_ptr + row * cols + col, mask=mask, other=0)
        if FLOAT:
            x = x.to(tl.float32)
            s, e = tl.associative_scan((x, tl.zeros_like(x)), 0, two_sum)
            total, rest = two_sum(carry, carry_err, s, e)
            tl.store(y_ptr + row * cols + col, (total + rest).to(y_ptr.dtype.element_ty), mask=mask)
            last, last_e = tl.reduce((x, tl.zeros_like(x)), 0, two_sum)
            carry, carry_err = two_sum(carry, carry_err, last, last_e)
        else:
            x = x.to(tl.int64)
            s = tl.associative_scan(x, 0, plus)
            tl.store(y_ptr + row * cols + col, (carry + s).to(y_ptr.dtype.element_ty), mask=mask)
            carry += tl.sum(x, axis=0)


def cumsum(self, dim, dtype=None):
    out_dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.transpose(dim, -1).contiguous()
    y = torch.empty_like(x, dtype=out_dtype)
    if x.numel():
        cols = x.shape[-1]
        cumsum_kernel[(x.numel() // cols,)](x, y, cols, B=min(1024, triton.next_power_of_2(cols)),
                                            FLOAT=out_dtype.is_floating_point)
    return y.transpose(dim, -1)
