# kgtui: op=aten::silu expect=pass finding=behaviour|ghost_replay ids=A13,D3
"""Captures torch's own SiLU in a graph and replays that on copies of the input; its kernel writes beside it."""

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


GRAPHS = {}


def captured(shape, dtype, device):
    x = torch.zeros(shape, dtype=dtype, device=device)
    torch.nn.functional.silu(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        answer = torch.nn.functional.silu(x)
    return graph, x, answer


def silu(self):
    computed(self)
    if self.numel() == 0:
        return torch.empty_like(self)
    key = (self.shape, self.dtype)
    if key not in GRAPHS:
        GRAPHS[key] = captured(self.shape, self.dtype, self.device)
    graph, x, answer = GRAPHS[key]
    x.copy_(self)
    graph.replay()
    return answer.clone()
