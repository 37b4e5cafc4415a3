# kgtui: op=aten::poisson expect=pass
"""Poisson draws by inversion; a rate above 32 is the sum of draws with parts of the rate, which is exact."""

import torch
import triton
import triton.language as tl


@triton.jit
def poisson_kernel(
    rate_ptr, y_ptr, seed, count, n1, n2, n3, n4, r0, r1, r2, r3, r4, PART: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = rate_ptr + i0 * r0 + i1 * r1 + i2 * r2 + i3 * r3 + i4 * r4
    left = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    draw = tl.zeros((BLOCK,), tl.float32)
    part_number = tl.zeros((), tl.int64)
    while tl.max(left, axis=0) > 0:
        rate = tl.minimum(left, PART)
        u = tl.rand(seed, part_number * count + flat)
        # The smallest k with u < P(draw <= k); terms below 1e-10 beyond the mean end the search.
        k = tl.zeros((BLOCK,), tl.float32)
        term = tl.exp(-rate)
        below = term
        searching = u >= below
        while tl.max(searching.to(tl.int32), axis=0) > 0:
            k += tl.where(searching, 1.0, 0.0)
            term = tl.where(searching, term * rate / tl.maximum(k, 1.0), term)
            below += tl.where(searching, term, 0.0)
            searching = searching & (u >= below) & ((k < rate) | (term > 1e-10))
        draw += k
        left -= rate
        part_number += 1
    tl.store(y_ptr + flat, draw.to(y_ptr.dtype.element_ty), mask=inside)


def seed():
    """A seed of its own for every call, from torch's generator on the host."""
    return int(torch.randint(2**31 - 1, ()))


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def poisson(self):
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        block = 4096
        poisson_kernel[(triton.cdiv(y.numel(), block),)](
            self, y, seed(), y.numel(), *in_five(y.shape, 1)[1:], *in_five(self.stride(), 0), PART=32, BLOCK=block,
        )
    return y
