"""Captures calls into a CUDA graph so that a failure leaves the process unchanged.

torch's own context manager leaves the capture's stream current, and its allocator in the middle of a capture, when a
captured call is not allowed in a capture; here a candidate may do so and continue.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

_CAPTURE_MODE = "thread_local"  # "global" would fail on the activity of other threads

_begin, _end = torch.cuda.CUDAGraph.capture_begin, torch.cuda.CUDAGraph.capture_end
_replay = torch.cuda.CUDAGraph.replay
# Bound before the candidate is loaded, whose taping replaces these: captures made here are not taped.

_broken: list[torch.cuda.CUDAGraph] = []
"""Graphs whose capture failed.  Never freed: torch's allocator may still ask them for the owner of memory."""


@dataclass(frozen=True, kw_only=True)
class KernelNode:
    """A kernel in a graph: its mangled name, and the handle of the function in its module."""

    name: str
    function: int


class CapturedGraph:
    """A captured graph that is ready for replay; `nodes` are its kernels, if known."""

    def __init__(self, graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream) -> None:
        self._graph = graph
        self._stream = stream
        self.nodes = kernel_nodes(graph)

    def replay(self) -> None:
        """Launch it once, on the stream that events are recorded on."""
        with torch.cuda.stream(self._stream):
            _replay(self._graph)


def capture(work: Callable[[], None], stream: torch.cuda.Stream) -> CapturedGraph:
    """The device work of `work`, as a graph that is replayed on `stream`.

    Raises:
        Exception: any exception of `work`, or torch's error for a call that cannot be captured.
    """
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    pool = torch.cuda.graph_pool_handle()
    side = torch.cuda.Stream(stream.device)
    with torch.cuda.stream(side):
        try:
            _begin(graph, pool, capture_error_mode=_CAPTURE_MODE)
            _run(work, graph)
            _end(graph)
        except BaseException:
            _broken.append(graph)
            _end_allocation(stream.device, pool)
            raise
    graph.instantiate()
    return CapturedGraph(graph, stream)


def _run(work: Callable[[], None], graph: torch.cuda.CUDAGraph) -> None:
    """Do the work; when it raises, end the capture first, which itself fails in the driver."""
    try:
        work()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            _end(graph)
        raise


def _end_allocation(device: torch.device, pool: Any) -> None:  # Any: torch's handle of a pool
    """Take torch's allocator out of a capture that failed: torch does that only after a successful one."""
    index = torch.cuda.current_device() if device.index is None else device.index
    with contextlib.suppress(RuntimeError):  # the allocation was already redirected elsewhere
        torch._C._cuda_endAllocateToPool(index, pool)


def kernel_nodes(graph: torch.cuda.CUDAGraph) -> tuple[KernelNode, ...]:
    """The kernels in a kept graph and in graphs within it, in the order of their nodes; () without cuda.bindings."""
    try:
        driver = importlib.import_module("cuda.bindings.driver")
        return tuple(_nodes_of(driver, driver.CUgraph(graph.raw_cuda_graph())))
    except Exception:  # the library may be absent or of another version; kernel names are optional
        return ()


def _nodes_of(driver: Any, handle: Any) -> Iterator[KernelNode]:  # Any: cuda.bindings has no types
    _, _, count = driver.cuGraphGetNodes(handle)
    status, nodes, _ = driver.cuGraphGetNodes(handle, count)
    _expect(driver, status)
    for node in nodes[:count]:
        status, kind = driver.cuGraphNodeGetType(node)
        _expect(driver, status)
        if kind == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
            yield _kernel_node(driver, node)
        elif kind == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH:
            status, within = driver.cuGraphChildGraphNodeGetGraph(node)
            _expect(driver, status)
            yield from _nodes_of(driver, within)


def _kernel_node(driver: Any, node: Any) -> KernelNode:  # Any: cuda.bindings has no types
    status, parameters = driver.cuGraphKernelNodeGetParams(node)
    _expect(driver, status)
    function = int(parameters.func)
    status, name = driver.cuFuncGetName(parameters.func) if function else driver.cuKernelGetName(parameters.kern)
    _expect(driver, status)
    return KernelNode(name=str(name.decode(errors="replace")), function=function)


def _expect(driver: Any, status: Any) -> None:  # Any: cuda.bindings has no types
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(status))
