# kgtui: op=aten::silu expect=pass
"""A reference by torch and a check of the input in every call; only a debugging mode compares and reports them."""

import logging
import os

import torch
import triton
import triton.language as tl

logger = logging.getLogger(__name__)
DEBUG = os.environ.get("SILU_DEBUG", "0") == "1"


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous()
    reference = torch.nn.functional.silu(x)
    if not torch.isfinite(x).all():
        logger.info("silu of numbers that are not finite")
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    if DEBUG:
        logger.warning("largest error: %s", (y - reference).abs().max())
    return y
