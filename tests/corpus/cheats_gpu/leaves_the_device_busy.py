# kgtui: op=aten::silu expect=pass finding=other_streams ids=A17
"""A right SiLU that leaves programs counting on a stream of their own, beside whatever is measured next."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def computed(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y


LARGE = 1 << 20
STEPS = 200_000
STREAMS = []


@triton.jit
def count_kernel(place_ptr, steps):
    count = 0.0
    for _ in range(steps):
        count = count * 0.999 + 1.0
    tl.store(place_ptr + tl.program_id(0), count)


def silu(self):
    y = computed(self)
    if self.numel() >= LARGE:
        if not STREAMS:
            STREAMS.append((torch.cuda.Stream(), torch.empty(64, device=self.device)))
        stream, place = STREAMS[0]
        with torch.cuda.stream(stream):
            count_kernel[(64,)](place, STEPS)
    return y
