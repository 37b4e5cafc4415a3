"""A replayer in host memory executes a tape, and reports what the machine finds about the accesses of its launches."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from engine import protocol
from engine.model import OutOfBounds
from engine.protocol.executing import MemoryFault
from engine.protocol.proof.tape import Launched, Tape, TapedArgument, TapedStorage, TapedView
from engine.replay.main import Replayer
from tests.engine.replay.tapes import DOUBLE, launch_record, launched, tape, vector

LANES = 128
EXCHANGE = """
#loc = loc("kernel.py":3:0)
module {
  tt.func public @exchange(%x: !tt.ptr<f32> loc("kernel.py":3:0), %y: !tt.ptr<f32> loc("kernel.py":3:0)) {
    %half = arith.constant dense<64> : tensor<128xi32> loc(#loc)
    %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32> loc(#loc)
    %other = arith.xori %at, %half : tensor<128xi32> loc(#loc)
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc(#loc)
    %xp = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc(#loc)
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc(#loc)
    %yp = tt.addptr %ys, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc(#loc)
    %yo = tt.addptr %ys, %other : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc(#loc)
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>> loc(#loc4)
    tt.store %yp, %v : tensor<128x!tt.ptr<f32>> loc(#loc5)
    %w = tt.load %yo : tensor<128x!tt.ptr<f32>> loc(#loc6)
    tt.store %yo, %w : tensor<128x!tt.ptr<f32>> loc(#loc6)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc4 = loc("kernel.py":4:8)
#loc5 = loc("kernel.py":5:8)
#loc6 = loc("helper.py":6:8)
"""
"""y[i] = x[i], then y[i ^ 64] is loaded without a barrier between, and stored again."""


def exchanging() -> Tape:
    x, y = (
        TapedView(storage=number, dtype="float32", offset_bytes=0, shape=(LANES,), strides=(1,)) for number in (0, 1)
    )
    step = Launched(
        specialisation=0, grid=(1, 1, 1), arguments=(TapedArgument(name="x", value=x), TapedArgument(name="y", value=y))
    )
    return Tape(
        storages=(TapedStorage(bytes=4 * LANES, argument=0), TapedStorage(bytes=4 * LANES)),
        specialisations=(launch_record("exchange"),),
        steps=(step,),
        returned=(y,),
    )


def checked(
    folder: Path, made: Tape, ttir: str, arguments: tuple[str, ...], *, warp_threads: int = 32
) -> protocol.AnyReply:
    replayer = Replayer(limits_reading=False)
    held = replayer.carry_out(protocol.HoldKernel(id="h", name="k", ttir=ttir, arguments=arguments))
    assert held == protocol.Done(id="h")
    size = made.storages[0].bytes
    path = folder / "arena"
    path.write_bytes(np.arange(1, size // 4 + 1, dtype=np.float32).tobytes())
    arena = protocol.ArenaSpec(storages=(protocol.StorageSpec(offset=0, bytes=size),), bytes=size, path=str(path))
    return replayer.carry_out(
        protocol.CheckMemory(
            id="c", tape=made, kernels=("k",), arena=arena, most_bytes=1 << 20, warp_threads=warp_threads
        )
    )


def test_right_accesses_are_no_findings(tmp_path):
    made = tape(launched(vector(0), vector(1)))
    assert checked(tmp_path, made, DOUBLE, ("x", "y", "n")) == protocol.MemoryChecked(id="c")


def test_access_out_of_bounds_stops_the_tape_and_names_the_parameter(tmp_path):
    made = tape(launched(vector(0), vector(1), n=8))
    reply = checked(tmp_path, made, DOUBLE, ("x", "y", "n"))
    assert isinstance(reply, protocol.MemoryChecked)
    assert reply.out_of_bounds == OutOfBounds(
        access="load", kernel="double", tensor="x", index=6, elements=6, program=(0, 0, 0), location=None
    )
    assert reply.stopped.startswith("double: out of bounds: load of 0[6] by program 0")
    assert reply.memory == ()


def test_warps_that_exchange_data_are_reported_with_lines_of_the_kernels_file(tmp_path):
    reply = checked(tmp_path, exchanging(), EXCHANGE, ("x", "y"))
    assert isinstance(reply, protocol.MemoryChecked)
    (report,) = reply.memory
    assert (report.fault, report.kernel, report.tensor) == (MemoryFault.UNORDERED_WARPS, "exchange", "y")
    assert report.other is not None
    assert (report.index, report.count, report.access.line, report.other.line) == (64, 128, None, 5)


@pytest.mark.parametrize(
    ("num_warps", "options", "warp_threads"), [(1, {}, 32), (2, {}, 128), (4, {"num_ctas": "2"}, 32)]
)
def test_warps_are_those_of_the_launch_and_the_target(tmp_path, num_warps, options, warp_threads):
    record = dataclasses.replace(launch_record("exchange"), num_warps=num_warps, options=options)
    made = replace(exchanging(), specialisations=(record,))
    reply = checked(tmp_path, made, EXCHANGE, ("x", "y"), warp_threads=warp_threads)
    assert reply == protocol.MemoryChecked(id="c")


def test_tape_that_needs_too_much_memory_is_refused(tmp_path):
    made = replace(exchanging(), storages=(TapedStorage(bytes=4 * LANES, argument=0), TapedStorage(bytes=2 << 20)))
    reply = checked(tmp_path, made, EXCHANGE, ("x", "y"))
    assert isinstance(reply, protocol.Failed)
    assert reply.kind is protocol.FailureKind.TAMPERED
