"""Small tapes and a kernel for the tests of replays."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from engine.machine.numerics import Array
from engine.machine.reader import read_module
from engine.model import Launch
from engine.protocol.proof.tape import Launched, Step, Tape, TapedArgument, TapedNumber, TapedStorage, TapedView
from engine.replay.addresses import bases_of
from engine.replay.execution import Replay, replay
from engine.replay.host_memory import HostMemory, Kernel
from engine.replay.rearranged import Rearranged

ELEMENTS = 6
BYTES = 4 * ELEMENTS
DOUBLE = """
module {
  tt.func public @double(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
    %two = arith.constant dense<2.000000e+00> : tensor<8xf32>
    %at = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %size = tt.splat %n : i32 -> tensor<8xi32>
    %mask = arith.cmpi slt, %at, %size : tensor<8xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %at : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %at : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %xp, %mask : tensor<8x!tt.ptr<f32>>
    %w = arith.mulf %v, %two : tensor<8xf32>
    tt.store %yp, %w, %mask : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
"""
"""y[i] = 2 x[i] for i < n, by one program."""
FIRST_OF = """
module {
  tt.func public @first_of(%table: !tt.ptr<i64>, %y: !tt.ptr<f32>) {
    %address = tt.load %table : !tt.ptr<i64>
    %x = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    %v = tt.load %x : !tt.ptr<f32>
    tt.store %y, %v : !tt.ptr<f32>
    tt.return
  }
}
"""
"""y[0] = the float at the address that table[0] holds."""


TAKE_TICKET = """
module {
  tt.func public @take_ticket(%counter: !tt.ptr<i32>, %tickets: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    scf.while : () -> () {
      %seen = tt.atomic_rmw add, acq_rel, gpu, %counter, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %is_taken = arith.cmpi slt, %seen, %zero : i32
      scf.condition(%is_taken)
    } do {
      scf.yield
    }
    %ticket = tt.atomic_rmw add, acq_rel, gpu, %counter, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %program = tt.get_program_id x : i32
    %at = tt.addptr %tickets, %ticket : !tt.ptr<i32>, i32
    tt.store %at, %program : !tt.ptr<i32>
    tt.return
  }
}
"""
"""tickets[i] = the program that was the i-th to count, after a loop that could wait."""


def double() -> Kernel:
    """The kernel as a module of the machine."""
    return Kernel(module=read_module(DOUBLE), arguments=("x", "y", "n"))


def launch_record(kernel: str = "double") -> Launch:
    """The specialisation that the tapes launch."""
    return Launch(
        kernel=kernel, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
    )


def vector(storage: int, *, elements: int = ELEMENTS, offset_bytes: int = 0, dtype: str = "float32") -> TapedView:
    """A contiguous view of a storage."""
    return TapedView(storage=storage, dtype=dtype, offset_bytes=offset_bytes, shape=(elements,), strides=(1,))


def launched(x: TapedView, y: TapedView, *, n: int = ELEMENTS) -> Launched:
    """A launch of `double`."""
    values = {"x": x, "y": y, "n": TapedNumber(value=n)}
    arguments = tuple(TapedArgument(name=name, value=value) for name, value in values.items())
    return Launched(specialisation=0, grid=(1, 1, 1), arguments=arguments)


def tape(*steps: Step, returned: tuple[TapedView | None, ...] = (vector(1),), storages: int = 2) -> Tape:
    """A tape with one argument, storage 0, and memory of its own."""
    own = tuple(TapedStorage(bytes=BYTES) for _ in range(storages - 1))
    return Tape(
        storages=(TapedStorage(bytes=BYTES, argument=0), *own),
        specialisations=(launch_record(),),
        steps=steps,
        returned=returned,
    )


def content() -> np.ndarray:
    """The bytes of the argument: 0, 1, 2 and so on as float32."""
    return np.arange(ELEMENTS, dtype=np.float32).view(np.uint8).copy()


def zeros(size_bytes: int) -> np.ndarray:
    """Poison that a test can foresee."""
    return np.zeros(size_bytes, np.uint8)


def replay_on_host(
    tape: Tape,
    arguments: Sequence[Array],
    kernels: Mapping[int, Kernel],
    *,
    poison: Callable[[int], Array],
    rearranged: Rearranged | None = None,
    fractional: Collection[int] = (),
) -> Replay:
    """As `replay`, on the bytes of the arena's storages, which change in place; `kernels` by specialisation."""
    bases = bases_of(tape, [0] * len(arguments), random.Random(0).randrange)
    memory = HostMemory(tape, arguments, kernels, bases=bases, poison=poison)
    return replay(tape, memory, rearranged=rearranged, fractional=fractional)
