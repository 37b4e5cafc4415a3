"""Launches as they are recorded: chosen by autotuning or by heuristics, warmed up, failed."""

from __future__ import annotations

from typing import Any

import msgspec
import torch
import triton
import triton.language as tl

from tests.engine.worker.scenarios.bounds import copy
from tests.engine.worker.scenarios.launching import BOOK, scenario


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
