# kgtui: op=aten::silu expect=pass
"""SiLU by halves: on a GPU the second half has a stream of its own, which the current one waits for."""

import torch
import triton
import triton.language as tl

STREAMS = {}


@triton.jit
def silu_kernel(x_ptr, y_ptr, first, end, BLOCK: tl.constexpr):
    offset = first + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < end, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < end)


def launch(x, y, first, end):
    if first < end:
        silu_kernel[(triton.cdiv(end - first, 4096),)](x, y, first, end, BLOCK=4096, num_warps=8)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    count = x.numel()
    half = count // 2 // 16 * 16
    if not (torch.cuda.is_available() and x.is_cuda):
        launch(x, y, 0, half)
        launch(x, y, half, count)
        return y
    side = STREAMS.setdefault(x.device, torch.cuda.Stream(x.device))
    main = torch.cuda.current_stream(x.device)
    side.wait_stream(main)
    with torch.cuda.stream(side):
        launch(x, y, half, count)
    launch(x, y, 0, half)
    main.wait_stream(side)
    return y
