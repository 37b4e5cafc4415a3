# kgtui: op=aten::add expect=wrong_value ids=A13,A8
"""Captures a graph on copies of the first inputs and replays that ever after, without copying the live ones in."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, alpha, count, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0).to(WIDE)
    other = tl.load(other_ptr + offset, mask=offset < count, other=0).to(WIDE)
    tl.store(y_ptr + offset, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=offset < count)


def added(self, other, alpha):
    x, other = (part.contiguous() for part in torch.broadcast_tensors(self, other))
    y = torch.empty_like(x)
    if y.numel():
        wide = tl.float32 if y.is_floating_point() else tl.int64
        add_kernel[(triton.cdiv(y.numel(), 4096),)](x, other, y, alpha, y.numel(), WIDE=wide, BLOCK=4096)
    return y


GRAPHS = {}


def captured(self, other, alpha):
    x, y = self.clone(), other.clone()
    added(x, y, alpha)  # compiles before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        answer = added(x, y, alpha)
    return graph, answer, (x, y)


def add(self, other, alpha=1):
    if self.numel() == 0 or other.numel() == 0:
        return added(self, other, alpha)
    key = (self.data_ptr(), other.data_ptr(), self.shape, other.shape, self.stride(), self.dtype, alpha)
    if key not in GRAPHS:
        GRAPHS[key] = captured(self, other, alpha)
    graph, answer, _ = GRAPHS[key]
    graph.replay()
    return answer.clone()
