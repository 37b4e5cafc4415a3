# kgtui: op=aten::silu expect=pass
"""SiLU in a CUDA graph per shape and dtype: each call copies the live input in and replays; a CPU launches."""

import torch
import triton
import triton.language as tl

GRAPHS = {}


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def launch(x, y):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096, num_warps=8)


class Captured:
    """One graph with its own input and output; a replay computes from what the input holds by then."""

    def __init__(self, like):
        self.x = torch.zeros(like.shape, dtype=like.dtype, device=like.device)
        self.y = torch.empty_like(self.x)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            launch(self.x, self.y)  # compiled before the capture, which forbids loading a module
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            launch(self.x, self.y)

    def replay(self, x):
        self.x.copy_(x)
        self.graph.replay()
        return self.y.clone()


def silu(self):
    if self.numel() == 0:
        return torch.empty_like(self)
    if not (torch.cuda.is_available() and self.is_cuda):
        x = self.contiguous()
        y = torch.empty_like(x)
        launch(x, y)
        return y
    key = (self.shape, self.dtype, self.device)
    if key not in GRAPHS:
        GRAPHS[key] = Captured(self)
    return GRAPHS[key].replay(self)
