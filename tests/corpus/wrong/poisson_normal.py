# kgtui: op=aten::poisson expect=wrong_value diagnosis=statistic case="20001 f32 rates about twelve"
"""Poisson draws by products of uniform numbers, and by a rounded normal distribution for rates above 10."""

import torch
import triton
import triton.language as tl


@triton.jit
def poisson_kernel(rate_ptr, y_ptr, seed, count, MOST: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    rate = tl.load(rate_ptr + places, mask=inside, other=0.0).to(tl.float32)
    left, draw = tl.exp(-tl.minimum(rate, 10.0)), tl.zeros((BLOCK,), tl.float32)
    product = tl.rand(seed, places)
    for step in range(1, MOST):
        draw += tl.where(product > left, 1.0, 0.0)
        product *= tl.rand(seed, places + step * count)
    normal = tl.floor(rate + tl.sqrt(rate) * tl.randn(seed, places) + 0.5)
    draw = tl.where(rate > 10.0, tl.maximum(normal, 0.0), draw)
    tl.store(y_ptr + places, draw.to(y_ptr.dtype.element_ty), mask=inside)


def poisson(self):
    rates = self.contiguous()
    y = torch.empty_like(rates)
    if y.numel():
        seed = int(torch.randint(2**31 - 1, ()))
        poisson_kernel[(triton.cdiv(y.numel(), 4096),)](rates, y, seed, y.numel(), MOST=40, BLOCK=4096)
    return y
