"""Launches broken and honest kernels as workers on the CPU do and prints what became of each, as JSON.

A script, not a module of tests: the driver replaces functions of Triton for good, so all of this happens in a process
of its own.  With the argument "interpreter" Triton's interpreter runs every kernel, as where the machine cannot.
"""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from engine import protocol
from engine.loading.raised import OutOfBoundsError
from engine.worker.cpu_driver.launcher import Launches
from engine.worker.launches.records import LaunchBook
from engine.worker.launches.tuning import Tuning
from engine.worker.launches.withholding import Withholding
from engine.worker.monitor.race_witness import RaceDetector
from engine.worker.triton_interpreter.gpu_need import GpuNeed
from engine.worker.triton_interpreter.interpreter import Interpreter
from engine.worker.triton_interpreter.program_order import ProgramOrder

TABLE = np.ones(2)  # beside kernels there may be arrays, which no question of yes and no can be asked of
BOOK = LaunchBook()
PROGRAM_ORDER = ProgramOrder(torch.device("cpu"))
RACE_DETECTOR = RaceDetector()
LAUNCHES = Launches(
    book=BOOK,
    withholding=Withholding(),
    program_order=PROGRAM_ORDER,
    gpu_need=GpuNeed(),
    interpreter=Interpreter(program_order=PROGRAM_ORDER, race_detector=RACE_DETECTOR),
    uses_machine="interpreter" not in sys.argv,
)
TUNING = Tuning()
SCENARIOS: dict[str, Callable[[], Any]] = {}


def scenario(function: Callable[[], Any]) -> Callable[[], Any]:
    SCENARIOS[function.__name__] = function
    return function


@contextlib.contextmanager
def allowed(*storages: torch.Tensor) -> Iterator[None]:
    """While these are the storages of the case in hand."""
    LAUNCHES.begin_call({f"storage {number}": storage for number, storage in enumerate(storages)})
    try:
        yield
    finally:
        LAUNCHES.begin_call({})


@triton.jit
def copy(x, y, n, first, block: tl.constexpr, masked: tl.constexpr):
    at = first + tl.program_id(0) * block + tl.arange(0, block)
    if masked:
        tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    else:
        values = tl.load(x + at)  # LINE load
        tl.store(y + at, values)  # LINE store


@triton.jit
def leap(x, y, far, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + tl.where(at == 3, far, at)))  # LINE leap


@triton.jit
def hooked(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def copy_if(x, y, n, wanted, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=(at < n) & (wanted > 0)), mask=(at < n) & (tl.load(x) > 0.5))


@triton.jit
def add_atomically(y, first, block: tl.constexpr):
    at = first + tl.arange(0, block)
    tl.atomic_add(y + at, 1.0)  # LINE atomic


@triton.jit
def swap_if(y, first):
    tl.atomic_cas(y + first, 0, 1)  # LINE swap


@triton.jit
def load_in_helper(pointers):
    return tl.load(pointers)  # LINE helper


@triton.jit
def copy_with_helper(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, load_in_helper(x + at))


@triton.jit
def load_scalar(x, y, i):
    tl.store(y, tl.load(x + i))  # LINE scalar


@triton.jit
def follow(addresses, y):
    pointer = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(y, tl.load(pointer))  # LINE follow


@triton.jit
def store_through(addresses, value):
    for i in range(2):
        tl.store(tl.load(addresses + i).to(tl.pointer_type(tl.float32)), value)  # LINE through


@triton.jit
def no_tensor(address):
    tl.store(address.to(tl.int64).to(tl.pointer_type(tl.float32)), 1.0)  # LINE wild


@scenario
def load_past_the_end() -> Any:
    copy[(1,)](torch.ones(5), torch.zeros(8), 5, 0, block=8, masked=False)


@scenario
def past_the_end_and_near_to_another_tensor() -> Any:
    x, y = torch.ones(4), torch.zeros(4)
    leap[(1,)](x, y, (y.data_ptr() - x.data_ptr()) // 4 + 5, block=4)


@scenario
def hooks_before_two_launches() -> Any:
    before: list[list[float]] = []
    x, y = torch.ones(2), torch.zeros(2)
    hooked.add_pre_run_hook(lambda x, y, n, **options: before.append([*y.tolist(), n, options["block"]]))
    for _ in range(2):
        hooked[(1,)](x, y, 2, block=2, num_warps=8)
    return before


@scenario
def load_before_the_start() -> Any:
    copy[(1,)](torch.ones(8), torch.zeros(8), 8, -3, block=8, masked=False)


@scenario
def store_past_the_end() -> Any:
    copy[(2,)](torch.ones(16), torch.zeros(12), 16, 0, block=8, masked=False)


@scenario
def atomic_past_the_end() -> Any:
    add_atomically[(1,)](torch.zeros(4), 2, block=4)


@scenario
def swap_past_the_end() -> Any:
    swap_if[(1,)](torch.zeros(4, dtype=torch.int32), 4)


@scenario
def helper_past_the_end() -> Any:
    copy_with_helper[(1,)](torch.ones(7), torch.zeros(8), block=8)


@scenario
def scalar_past_the_end() -> Any:
    load_scalar[(1,)](torch.ones(2, dtype=torch.float64), torch.zeros(1, dtype=torch.float64), 2)


@scenario
def masked_lanes_may_point_anywhere() -> Any:
    y = torch.zeros(5)
    copy[(1,)](torch.ones(5), y, 5, 0, block=1024, masked=True)
    return y.tolist()


@scenario
def a_condition_on_a_scalar_is_part_of_a_mask() -> Any:
    y = torch.zeros(5)
    copy_if[(1,)](torch.ones(5), y, 3, 2, block=8)
    return y.tolist()


@scenario
def every_lane_masked() -> Any:
    y = torch.zeros(5)
    copy[(1,)](torch.ones(5), y, 0, 0, block=8, masked=True)
    return y.tolist()


@scenario
def a_tensor_without_elements_is_not_accessed() -> Any:
    y = torch.ones(5)
    copy[(1,)](torch.ones(5)[:0], y, 0, 0, block=8, masked=True)
    copy[(1,)](torch.ones(0), y, 0, 0, block=8, masked=True)
    return y.tolist()


@scenario
def a_load_from_a_view_without_elements() -> Any:
    load_scalar[(1,)](torch.ones(5)[2:2], torch.zeros(1), 0)


@scenario
def in_bounds() -> Any:
    y = torch.zeros(8)
    copy[(1,)](torch.arange(8.0), y, 8, 0, block=8, masked=False)
    return y.tolist()


@scenario
def a_view_may_reach_back_into_its_storage() -> Any:
    source, target = torch.arange(16.0), torch.zeros(16)
    copy[(1,)](source[8:], target[8:], 8, -8, block=8, masked=False)
    return target.tolist()


@scenario
def a_view_may_not_reach_out_of_its_storage() -> Any:
    copy[(1,)](torch.arange(16.0)[8:], torch.zeros(32), 8, 4, block=8, masked=False)


def _neighbours() -> tuple[torch.Tensor, torch.Tensor]:
    """Two storages of eight floats, of which the second begins where the first ends, as in the memory of a case."""
    memory = bytearray(64)
    first, second = (torch.frombuffer(memory, dtype=torch.float32, count=8, offset=start) for start in (0, 32))
    return first, second.fill_(7.0)


@scenario
def a_tensor_of_the_case_that_the_launch_was_not_given() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        copy[(1,)](x, torch.zeros(8), 8, 8, block=8, masked=False)


@scenario
def a_tensor_of_the_case_after_a_launch_that_made_pointers() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        follow[(1,)](torch.tensor([neighbour.data_ptr()]), torch.zeros(1))
        copy[(1,)](x, torch.zeros(8), 8, 8, block=8, masked=False)


@scenario
def a_tensor_of_the_case_is_written_through_its_address() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        store_through[(1,)](torch.tensor([x.data_ptr(), neighbour[7:].data_ptr()]), 2.0)
    return [*x.tolist(), *neighbour.tolist()]


@scenario
def an_address_beyond_the_tensors_of_the_case() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        store_through[(1,)](torch.tensor([x.data_ptr(), neighbour.data_ptr() + 32]), 2.0)


@scenario
def an_address_from_memory_is_followed_where_it_is_allowed() -> Any:
    elsewhere, y = torch.full((1,), 7.0), torch.zeros(1)
    with allowed(elsewhere):
        follow[(1,)](torch.tensor([elsewhere.data_ptr()]), y)
    return y.tolist()


@scenario
def an_address_from_memory_is_refused_elsewhere() -> Any:
    elsewhere = torch.full((1,), 7.0)
    follow[(1,)](torch.tensor([elsewhere.data_ptr()]), torch.zeros(1))


@scenario
def a_launch_without_a_tensor() -> Any:
    no_tensor[(1,)](64)


@scenario
def the_kernel_after_a_violation_is_judged_by_its_own_tensors() -> Any:
    try:
        load_past_the_end()
    except Exception:
        return in_bounds()


@triton.autotune(
    configs=[
        triton.Config({"block": 4}),
        triton.Config({"block": 8}, num_warps=2, num_stages=5),
        triton.Config({"block": 16}),
    ],
    key=["n"],
)
@triton.jit
def tuned(x, y, n, block: tl.constexpr):
    tl.static_assert(block >= 8)
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@scenario
def autotune_takes_the_first_configuration_that_works() -> Any:
    y, asked = torch.zeros(10), []

    def grid(meta: dict[str, Any]) -> tuple[int, ...]:
        asked.append(meta["block"])
        return (triton.cdiv(10, meta["block"]),)

    BOOK.take_unreported()
    tuned[grid](torch.ones(10), y, 10)
    return {
        "y": y.tolist(),
        "asked": sorted(set(asked)),
        "launches": [
            msgspec.to_builtins(launch) for launch in BOOK.take_unreported() if launch.constants["block"] == "8"
        ],
    }


@triton.autotune(configs=[triton.Config({"block": 2}), triton.Config({"block": 4})], key=["n"])
@triton.jit
def never_tuned(x, n, block: tl.constexpr):
    tl.static_assert(block >= 8)
    tl.store(x + tl.arange(0, block), 1.0)


@scenario
def autotune_without_a_working_configuration_raises_the_first_refusal() -> Any:
    never_tuned[(1,)](torch.ones(10), 10)


@triton.autotune(configs=[triton.Config({"block": 8}), triton.Config({"block": 4})], key=["n"])
@triton.jit
def tuned_out_of_bounds(x, n, block: tl.constexpr):
    tl.store(x + tl.arange(0, block), 1.0)  # LINE tuned


@scenario
def autotune_does_not_look_past_a_violation() -> Any:
    tuned_out_of_bounds[(1,)](torch.ones(4), 4)


@triton.heuristics({"block": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def sized_by_rule(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@scenario
def heuristics_choose_and_are_recorded() -> Any:
    y = torch.zeros(5)
    BOOK.take_unreported()
    sized_by_rule[(1,)](torch.ones(5), y, 5)
    return {"y": y.tolist(), "constants": [dict(launch.constants) for launch in BOOK.take_unreported()]}


@scenario
def a_launch_is_recorded_with_its_types_and_grid() -> Any:
    BOOK.take_unreported()
    x = torch.ones(8)
    copy[(1, 1, 1)](x, x.clone().to(torch.bfloat16), 16, 1 - 1, block=8, masked=True, num_warps=8, num_stages=2)
    return [msgspec.to_builtins(launch) for launch in BOOK.take_unreported()]


@scenario
def a_launch_that_fails_is_recorded_too() -> Any:
    BOOK.take_unreported()
    try:
        copy[(1,)](torch.ones(5), torch.zeros(8), 5, 0, block=8, masked=False, num_warps=16)
    except Exception:
        return [launch.num_warps for launch in BOOK.take_unreported()]


@triton.jit
def copy_by_cast_numbers(x, y, rows, cols, block: tl.constexpr):
    at = tl.arange(0, block)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        for start in range(0, cols, block):
            there = row.to(tl.int64) * cols + start.to(tl.int64) + at
            tl.store(y + there, tl.load(x + there, mask=start + at < cols), mask=start + at < cols)


@scenario
def numbers_of_loops_are_cast() -> Any:
    y = torch.zeros(3, 5)
    copy_by_cast_numbers[(2,)](torch.arange(15.0), y, 3, 5, block=4)
    return y.flatten().tolist()


double_of, of_largest, each = tl.exp2, tl.max, tl.range


@triton.jit
def use_names_of_its_own(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    for i in each(0, n):
        tl.store(y + i, of_largest(double_of(tl.load(x + at)), 0))


@scenario
def a_function_of_the_language_by_another_name() -> Any:
    y = torch.zeros(2)
    use_names_of_its_own[(1,)](torch.arange(4.0), y, 2, block=4)
    return y.tolist()


@triton.jit
def use_libdevice(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    v = tl.load(x + at)
    tl.store(y + at, libdevice.rsqrt(v) + libdevice.fast_expf(v * 0.0) + libdevice.pow(v, 2.0))
    tl.store(y + 4, libdevice.erf(0.0) + libdevice.isinf(1.0 / tl.load(x + 4)))


@triton.jit
def use_what_is_missing(x):
    tl.store(x, libdevice.cyl_bessel_i0(tl.load(x)))


@scenario
def functions_of_libdevice() -> Any:
    y = torch.zeros(5)
    use_libdevice[(1,)](torch.tensor([1.0, 4.0, 16.0, 0.25, 0.0]), y, block=4)
    return y.tolist()


@scenario
def a_function_that_libdevice_has_and_the_interpreter_has_not() -> Any:
    use_what_is_missing[(1,)](torch.ones(1))


@scenario
def a_type_that_libdevice_does_not_take() -> Any:
    use_libdevice[(1,)](torch.ones(5, dtype=torch.bfloat16), torch.zeros(5), block=4)


@scenario
def a_kernel_that_was_warmed_up_is_launched() -> Any:
    y = torch.zeros(6)
    handle = copy.warmup(torch.ones(6), y, 6, 0, block=4, masked=True, grid=(1,))
    handle._init_handles()
    handle[(1, 1, 1)](torch.ones(6), y, 6, 0, 4, True)
    return [*y.tolist(), getattr(handle, "n_regs", 0.5)]


@scenario
def a_figure_of_a_kernel_that_was_warmed_up() -> Any:
    return copy.warmup(torch.ones(6), torch.zeros(6), 6, 0, block=4, masked=True, grid=(1,)).n_spills


@triton.jit
def larger_of(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    first, second = tl.load(x + at), tl.load(y + at)
    tl.store(y + at, tl.where(first > second, first, second))


@scenario
def bfloat16_chosen_by_a_comparison() -> Any:
    y = torch.tensor([1.0, 4.0], dtype=torch.bfloat16)
    larger_of[(1,)](torch.tensor([3.0, -2.0], dtype=torch.bfloat16), y, block=2)
    return y.tolist()


@triton.jit
def copy_of_two(tensors, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(tensors[1] + at, tl.load(tensors[0] + at, mask=at < n), mask=at < n)


@scenario
def tensors_in_a_tuple() -> Any:
    y = torch.zeros(3)
    copy_of_two[(1,)]((torch.arange(3.0), y), 3, block=4)
    return y.tolist()


@scenario
def past_the_end_of_a_tensor_in_a_tuple() -> Any:
    copy_of_two[(1,)]((torch.arange(3.0), torch.zeros(4)), 4, block=4)


@triton.jit
def scale_by(x, y, alpha, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at) * alpha)
    tl.store(y + 2, alpha.to(tl.int32))


@scenario
def a_float_is_an_argument_of_float32() -> Any:
    y = torch.zeros(3)
    scale_by[(1,)](torch.tensor([1.0, 3.0], dtype=torch.float16), y, 2.0009765625, block=2)
    return y.tolist()


@triton.jit
def larger_of_two(value, index, other_value, other_index):
    is_other = other_value > value
    return tl.where(is_other, other_value, value), tl.where(is_other, other_index, index)


@triton.jit
def first_then_second(slope, start, other_slope, other_start):
    return slope * other_slope, start * other_slope + other_start


@triton.jit
def larger_by_asking(a, b):
    return a if a > b else b


@triton.jit
def find_largest(x, y, rows: tl.constexpr, cols: tl.constexpr):
    at = tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]
    value, index = tl.reduce(
        (tl.load(x + at), tl.broadcast_to(tl.arange(0, cols)[None, :], (rows, cols))), 1, larger_of_two
    )
    tl.store(y + tl.arange(0, rows), value + index)
    of_all, where = tl.reduce((tl.load(x + at), at), None, larger_of_two)
    tl.store(y + rows, of_all + where)
    tl.store(y + rows + 1, tl.max(tl.reduce(tl.load(x + at), 0, larger_by_asking, keep_dims=True)))


@triton.jit
def recur(slopes, starts, y, rows: tl.constexpr, cols: tl.constexpr, backwards: tl.constexpr):
    at = tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]
    _, scan = tl.associative_scan((tl.load(slopes + at), tl.load(starts + at)), 0, first_then_second, reverse=backwards)
    tl.store(y + at, scan)


@scenario
def a_reduction_by_a_function_of_its_own() -> Any:
    y, x = torch.zeros(4), torch.tensor([1.0, 5.0, 2.0, 5.0, 8.0, -1.0, 8.0, 0.0])
    find_largest[(1,)](x, y, rows=2, cols=4)
    return y.tolist()


@scenario
def a_scan_by_a_function_that_does_not_commute() -> Any:
    slopes, starts = torch.arange(16.0).view(8, 2) / 4, torch.arange(16.0).view(8, 2) - 5
    differences: list[float] = []
    for backwards in (False, True):
        y, expected, row = torch.zeros(8, 2), torch.zeros(8, 2), torch.zeros(2)
        for i in reversed(range(8)) if backwards else range(8):
            row = expected[i] = row * slopes[i] + starts[i]
        recur[(1,)](slopes, starts, y, rows=8, cols=2, backwards=backwards)
        differences.append((y - expected).abs().max().item())
    return differences


@triton.jit
def take_ticket(tickets, counter):
    tl.store(tickets + tl.program_id(0), tl.atomic_add(counter, 1))


@scenario
def programs_run_backwards() -> Any:
    tickets = []
    for program_order in (None, protocol.ProgramOrder()):
        taken = torch.zeros(4, dtype=torch.int32)
        with PROGRAM_ORDER.during(program_order):
            take_ticket[(4,)](taken, torch.zeros(1, dtype=torch.int32))
        tickets.append(taken.tolist())
    return dict(zip(("usual", "backwards"), tickets, strict=True))


@triton.jit
def store_twice_as_wide(y, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, 2 * block)
    tl.store(y + at, tl.program_id(0).to(tl.float32) + tl.zeros((2 * block,), tl.float32), mask=at < 12)  # LINE wide


@scenario
def programs_that_meet() -> Any:
    met = []
    for program_order in (protocol.ProgramOrder(), protocol.ProgramOrder(witness=True)):
        with PROGRAM_ORDER.during(program_order), RACE_DETECTOR.during(program_order):
            store_twice_as_wide[(3,)](torch.zeros(12), block=4)
        met.append(msgspec.to_builtins(RACE_DETECTOR.first or LAUNCHES.reports.race))
    return met


@scenario
def programs_that_do_not_meet() -> Any:
    witness = protocol.ProgramOrder(witness=True)
    LAUNCHES.reports.begin()
    with PROGRAM_ORDER.during(witness), RACE_DETECTOR.during(witness):
        copy[(3,)](torch.ones(12), torch.zeros(12), 12, 0, block=4, masked=True)
    return msgspec.to_builtins(RACE_DETECTOR.first or LAUNCHES.reports.race)


@triton.jit
def place_largest(x, y, block: "tl.constexpr"):  # noqa: UP037  # as some files quote it
    v = tl.load(x + tl.arange(0, block))
    tl.store(y, tl.argmax(v, 0))
    tl.store(y + 1, tl.argmin(v, 0))
    tl.store(y + 2, tl.max(v, 0))


@scenario
def places_of_the_largest_among_nan() -> Any:
    y, reported = torch.zeros(3), []
    for numbers in ([1.0, 4.0, 3.0, 2.0], [np.nan] * 4):
        place_largest[(1,)](torch.tensor(numbers), y, block=4)
        reported.append([*y.tolist()[:2], str(y[2].item())])
    return reported


@scenario
def a_kernel_is_asked_about_itself() -> Any:
    @triton.jit
    def asked(x, n, block: tl.constexpr):
        tl.store(x, n)

    names = (asked.fn.__name__, asked.arg_names, [one.name for one in asked.params], asked.src.splitlines()[0])
    return [isinstance(asked, triton.JITFunction), *names, hasattr(asked, "device_caches")]


def _became(run: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": run()}
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OutOfBoundsError):
                return {"violation": msgspec.to_builtins(cause.report), "message": str(cause)}
            root, cause = cause, cause.__cause__
        return {"error": repr(root), "trace": traceback.format_exc()}


def main() -> None:
    LAUNCHES.install()
    LAUNCHES.watch(__file__)
    TUNING.briefly()
    json.dump({name: _became(run) for name, run in SCENARIOS.items()}, sys.stdout)


if __name__ == "__main__":
    main()
