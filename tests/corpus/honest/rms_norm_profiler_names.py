# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm in two launches under a name for the profiler, with scratch that is lent by a context manager."""

import contextlib
import os
import threading
from collections import defaultdict

import torch
import triton
import triton.language as tl

_lock = threading.Lock()


class Workspace:
    """Scratch by device and size class."""

    def __init__(self):
        self._pool = defaultdict(list)

    @contextlib.contextmanager
    def borrow(self, n, device):
        size = triton.next_power_of_2(n)
        with _lock:
            free = self._pool[device, size]
            buf = free.pop() if free else torch.empty(size, dtype=torch.float32, device=device)
        try:
            yield buf[:n]
        finally:
            with _lock:
                self._pool[device, size].append(buf)


WORKSPACE = Workspace()
PROFILE = bool(int(os.getenv("RMS_PROFILE", "0")))


def _record(name):
    return torch.profiler.record_function(name) if PROFILE else contextlib.nullcontext()


@triton.jit
def _stat(x, r, sx, n, eps, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((B,), tl.float32)
    for i in tl.range(0, n, B, num_stages=3):
        c = i + tl.arange(0, B)
        v = tl.load(x + row * sx + c, mask=c < n, other=0.0, eviction_policy="evict_last").to(tl.float32)
        acc += v * v
    tl.store(r + row, 1.0 / tl.sqrt_rn(tl.sum(acc) / n + eps))


@triton.jit
def _apply(x, w, r, o, sx, so, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * B + tl.arange(0, B)
    m = c < n
    v = tl.load(x + row * sx + c, mask=m, eviction_policy="evict_first").to(tl.float32)
    g = tl.load(w + c, mask=m).to(tl.float32)
    tl.store(o + row * so + c, (v * tl.load(r + row) * g).to(o.dtype.element_ty), mask=m, cache_modifier=".cs")


def rms_norm(out, input, weight, epsilon):
    rows, n = input.shape
    if rows == 0:
        return
    x = input if input.stride(1) == 1 else input.contiguous()
    y = out if out.stride(1) == 1 else out.new_empty(out.shape)
    with _record("rms_norm"), WORKSPACE.borrow(rows, input.device) as r:
        _stat[(rows,)](x, r, x.stride(0), n, epsilon, B=1024)
        _apply[(rows, triton.cdiv(n, 1024))](
            x, weight.contiguous(), r, y, x.stride(0), y.stride(0), n, B=1024
        )  # fmt: skip
    if y is not out:
        out.copy_(y)
