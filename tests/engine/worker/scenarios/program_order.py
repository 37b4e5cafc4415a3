"""Programs of a launch in another order, and programs that write the same element."""

from __future__ import annotations

from typing import Any

import msgspec
import torch
import triton
import triton.language as tl

from engine import protocol
from tests.engine.worker.scenarios.bounds import copy
from tests.engine.worker.scenarios.launching import LAUNCHES, PROGRAM_ORDER, RACE_DETECTOR, scenario


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
def hand_on(flags, sums, distance):
    at = tl.program_id(0) + 1
    tl.atomic_poll(flags + at + distance, 1)
    tl.store(sums + at, tl.load(sums + at + distance) + tl.atomic_load(flags))
    tl.atomic_store(flags + at, 1)


def _handed_on(distance: int) -> list[int]:
    flags, sums = torch.tensor([1, 0, 0, 0, 0, 0], dtype=torch.int32), torch.zeros(6, dtype=torch.int32)
    hand_on[(4,)](flags, sums, distance)
    return [*flags.tolist(), *sums.tolist()]


@scenario
def a_program_polls_an_earlier_one() -> Any:
    return _handed_on(-1)


@scenario
def a_program_polls_a_later_one() -> Any:
    return _handed_on(1)


@scenario
def launches_in_another_order() -> Any:
    counts = []
    for flags in ([1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]):
        with PROGRAM_ORDER.during(protocol.ProgramOrder()):
            hand_on[(4,)](torch.tensor(flags, dtype=torch.int32), torch.zeros(6, dtype=torch.int32), -1)
        counts.append(PROGRAM_ORDER.launches)
    return counts


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
