"""Whose kernels a real device ran, by its record, by the driver's launches and by the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from engine import protocol
from engine.clock.instruments import instruments_of
from engine.verdict.device_activity import Origin, shares
from engine.worker.monitor.device.device_trace_recorder import DeviceTraceRecorder
from engine.worker.monitor.device.own_kernels import OwnKernels

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: it is its record that is read"),
]

COUNT = 1 << 20


@triton.jit
def double(x_ptr, y_ptr, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < count), mask=at < count)


@pytest.fixture(scope="module")
def recorder() -> Iterator[DeviceTraceRecorder]:
    """A tape that takes this file for the candidate's."""
    load = CompiledKernel._init_handles
    own = OwnKernels()
    own.belong_to(Path(__file__).parent)
    yield DeviceTraceRecorder(instruments_of(torch.device("cuda")), own)
    CompiledKernel._init_handles = load


def doubled(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), block=1024)
    return y


def recorded(recorder: DeviceTraceRecorder, call: Callable[[], object]) -> protocol.Recorded:
    """The second call: the first one compiles."""
    call()
    return recorder.record("i", call, lambda returned: ())


def test_kernel_of_this_file_is_own_in_graph(recorder: DeviceTraceRecorder) -> None:
    x = torch.randn(COUNT, device="cuda")
    reported = recorded(recorder, lambda: doubled(x))
    assert [(share.origin, share.launches, share.names) for share in shares(reported)] == [(Origin.OWN, 1, ("double",))]
    assert reported.nodes == (protocol.NodeSeen(name="double", own=True),)
    assert (reported.streams, reported.late) == (0, ())


def test_a_product_of_torch_is_a_librarys(recorder: DeviceTraceRecorder) -> None:
    a = torch.randn(512, 512, device="cuda")
    assert {share.origin for share in shares(recorded(recorder, lambda: a @ a))} == {Origin.LIBRARY}


def test_torch_computation_and_moves_are_distinguished(recorder: DeviceTraceRecorder) -> None:
    x = torch.randn(1024, 1024, device="cuda")
    assert {share.origin for share in shares(recorded(recorder, lambda: torch.softmax(x, -1)))} == {Origin.TORCH}
    assert {share.origin for share in shares(recorded(recorder, lambda: x.t().contiguous()))} == {Origin.MOVES}
    assert {share.origin for share in shares(recorded(recorder, lambda: x.clone()))} == {Origin.COPIES}


def test_replayed_graph_kernels_keep_names_from_capture(recorder: DeviceTraceRecorder) -> None:
    x = torch.randn(COUNT, device="cuda")
    graph = torch.cuda.CUDAGraph()

    def capture() -> None:
        with torch.cuda.graph(graph):
            doubled(x)

    doubled(x)
    recorder.record("i", capture, lambda returned: ())
    reported = recorded(recorder, graph.replay)
    assert [(one.name, one.own, one.replayed) for one in reported.activities] == [("double", True, True)]


def test_a_stream_beside_the_callers_is_counted(recorder: DeviceTraceRecorder) -> None:
    x = torch.randn(COUNT, device="cuda")
    side = torch.cuda.Stream()

    def call() -> None:
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            doubled(x)
        torch.cuda.current_stream().wait_stream(side)

    assert recorded(recorder, call).streams == 1
