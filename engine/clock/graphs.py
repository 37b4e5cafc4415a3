"""Capturing calls into a CUDA graph so that a failure leaves the process as it was.

torch's own context manager leaves the capture's stream current, and its allocator in the middle of a
capture, when a captured call does what cannot be captured; here a candidate may do so and go on.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import torch

_CAPTURE_MODE = "thread_local"  # what other threads do is theirs; "global" would fail on it

_broken: list[torch.cuda.CUDAGraph] = []
"""Graphs whose capture failed.  Never freed: torch's allocator may go on asking them whose memory is whose."""


class CapturedGraph:
    """A graph that was captured and is ready to be replayed; `kernels` are the names of its kernels, if known."""

    def __init__(self, graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream) -> None:
        self._graph = graph
        self._stream = stream
        self.kernels = kernel_names(graph)

    def replay(self) -> None:
        """Launch it once, on the stream that events are recorded on."""
        with torch.cuda.stream(self._stream):
            self._graph.replay()


def capture(work: Callable[[], None], stream: torch.cuda.Stream) -> CapturedGraph:
    """What `work` puts on the device, as a graph that is replayed on `stream`.

    Raises:
        Exception: whatever `work` raises, or torch's error for what cannot be captured.
    """
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    pool = torch.cuda.graph_pool_handle()
    side = torch.cuda.Stream(stream.device)  # type: ignore[no-untyped-call]  # torch leaves it bare
    with torch.cuda.stream(side):
        try:
            graph.capture_begin(pool, capture_error_mode=_CAPTURE_MODE)
            _run(work, graph)
            graph.capture_end()
        except BaseException:
            _broken.append(graph)
            _end_allocation(stream.device, pool)
            raise
    graph.instantiate()
    return CapturedGraph(graph, stream)


def _run(work: Callable[[], None], graph: torch.cuda.CUDAGraph) -> None:
    """Do the work; when it raises, end the capture first, which the driver answers with a failure of its own."""
    try:
        work()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            graph.capture_end()
        raise


def _end_allocation(device: torch.device, pool: Any) -> None:  # Any: torch's handle of a pool
    """Take torch's allocator out of a capture that failed: torch does that only after one that did not."""
    index = torch.cuda.current_device() if device.index is None else device.index
    with contextlib.suppress(RuntimeError):  # it was out already
        torch._C._cuda_endAllocateToPool(index, pool)


def kernel_names(graph: torch.cuda.CUDAGraph) -> tuple[str, ...]:
    """The mangled names of the kernels in a kept graph, in the order of its nodes; () without cuda.bindings."""
    try:
        driver = importlib.import_module("cuda.bindings.driver")
        handle = driver.CUgraph(graph.raw_cuda_graph())
        _, _, count = driver.cuGraphGetNodes(handle)
        status, nodes, _ = driver.cuGraphGetNodes(handle, count)
        _expect(driver, status)
        return tuple(name for node in nodes[:count] if (name := _kernel_name(driver, node)))
    except Exception:  # the edge to a library that may be absent or another version: names are evidence, never needed
        return ()


def _kernel_name(driver: Any, node: Any) -> str:  # Any: cuda.bindings has no types
    status, kind = driver.cuGraphNodeGetType(node)
    _expect(driver, status)
    if kind != driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        return ""
    status, parameters = driver.cuGraphKernelNodeGetParams(node)
    _expect(driver, status)
    by_function = int(parameters.func) != 0
    status, name = driver.cuFuncGetName(parameters.func) if by_function else driver.cuKernelGetName(parameters.kern)
    _expect(driver, status)
    return str(name.decode(errors="replace"))


def _expect(driver: Any, status: Any) -> None:  # Any: cuda.bindings has no types
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(status))
