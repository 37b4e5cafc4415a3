"""Kernels on slots that go round, timed by our clock, by ncu and by do_bench: the part that needs torch.

Started by bench_clock.py in processes of its own, since ncu and our clock cannot watch the same one:

    truth.py times             our clock and do_bench, as JSON
    truth.py --under-ncu       the very same calls, each in the NVTX range "timed", for ncu to watch
    truth.py slowdowns ROWS..  how much slower softmax_rows.py is with so many extra rows, as JSON
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from engine.clock.calls import Calls
from engine.clock.instruments import Instruments, instruments_of
from tests.benchmarks.gpu.kernels import copy, matmul, row_sum, softmax_rows

CALLS = 21
WARM_UP_S = 0.2
LEAST_SLOTS, MOST_SLOTS = 4, 256
TIMES_THE_CACHE = 5
F32, BF16 = torch.float32, torch.bfloat16


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A function to time, and the shapes of its arguments."""

    name: str
    call: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: torch.dtype = F32


def last_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax_rows.softmax(x, -1)


SOFTMAX = Subject(name="softmax", call=last_softmax, shapes=((4096, 781),))


def doubled(x: torch.Tensor) -> torch.Tensor:
    return torch.mul(x, 2.0)


SUBJECTS = (
    Subject(name="triton copy 2^16 f32", call=copy.copy, shapes=((1 << 16,),)),
    Subject(name="torch mul 2^20 f32", call=doubled, shapes=((1 << 20,),)),
    Subject(name="triton row sum 1024x2048 f32", call=row_sum.row_sum, shapes=((1024, 2048),)),
    Subject(name="torch softmax 4096x781 f32", call=lambda x: torch.softmax(x, -1), shapes=((4096, 781),)),
    Subject(name="triton softmax 8192x781 f32", call=last_softmax, shapes=((8192, 781),)),
    Subject(name="triton copy 2^25 f32", call=copy.copy, shapes=((1 << 25,),)),
    Subject(name="torch softmax 32768x1024 f32", call=lambda x: torch.softmax(x, -1), shapes=((32768, 1024),)),
    Subject(name="torch mm 4096 bf16", call=torch.mm, shapes=((4096, 4096), (4096, 4096)), dtype=BF16),
    Subject(name="triton row sum 32768x8192 f32", call=row_sum.row_sum, shapes=((32768, 8192),)),
    Subject(name="triton matmul 4096 bf16", call=matmul.matmul, shapes=((4096, 4096), (4096, 4096)), dtype=BF16),
    Subject(name="torch mul 2^28 f32", call=doubled, shapes=((1 << 28,),)),
    Subject(name="torch mm 8192 bf16", call=torch.mm, shapes=((8192, 8192), (8192, 8192)), dtype=BF16),
    Subject(name="torch mm 4096 f32", call=torch.mm, shapes=((4096, 4096), (4096, 4096))),
    Subject(name="torch mm 5120 f32", call=torch.mm, shapes=((5120, 5120), (5120, 5120))),
)


def cache_bytes_of(device: torch.device) -> int:
    """The size of the second-level cache."""
    return int(torch.cuda.get_device_properties(device).L2_cache_size)


def slots_of(subject: Subject, device: torch.device, cache_bytes: int) -> list[tuple[torch.Tensor, ...]]:
    """Argument sets of random content that are together several times the second-level cache."""
    size = sum(torch.Size(shape).numel() for shape in subject.shapes) * subject.dtype.itemsize
    count = min(MOST_SLOTS, max(LEAST_SLOTS, -(-TIMES_THE_CACHE * cache_bytes // size)))
    generator = torch.Generator(device).manual_seed(1)
    return [
        tuple(torch.randn(shape, dtype=subject.dtype, device=device, generator=generator) for shape in subject.shapes)
        for _ in range(count)
    ]


def warm_up(
    subject: Subject,
    slots: list[tuple[torch.Tensor, ...]],
    synchronise: Callable[[], object],
    *,
    least_s: float = WARM_UP_S,
) -> None:
    """Every slot once, and for as long as clocks need."""
    until = time.perf_counter() + least_s
    for arguments in slots:
        subject.call(*arguments)
    while time.perf_counter() < until:
        for arguments in slots[:LEAST_SLOTS]:
            subject.call(*arguments)
        synchronise()


def chosen(slots: list[tuple[torch.Tensor, ...]]) -> list[tuple[torch.Tensor, ...]]:
    """The arguments of the timed calls, in their order: the same under every clock."""
    return [slots[number % len(slots)] for number in range(CALLS)]


def times(device: torch.device) -> list[dict[str, Any]]:
    """Our device time of each subject, and what do_bench says."""
    from triton.testing import do_bench

    instruments, found = precise_instruments(device), []
    for subject in SUBJECTS:
        slots = slots_of(subject, device, cache_bytes_of(device))
        warm_up(subject, slots, torch.cuda.synchronize)
        measured = timed(subject, slots, instruments)
        benched_ms = do_bench(lambda call=subject.call, first=slots[0]: call(*first), return_mode="median")
        found.append({**measured, "do_bench_us": benched_ms * 1e3})
        del slots
        torch.cuda.empty_cache()
    return found


def precise_instruments(device: torch.device) -> Instruments:
    """The instruments of a device whose own record can be read."""
    instruments = instruments_of(device)
    if instruments.recorder is None:
        raise SystemExit(f"CUPTI could not be used: {instruments.reason}")
    return instruments


def timed(subject: Subject, slots: list[tuple[torch.Tensor, ...]], instruments: Instruments) -> dict[str, Any]:
    """The median device time of the calls of one subject, and how many kernels they are."""
    calls = Calls(instruments)
    work = [lambda call=subject.call, arguments=arguments: call(*arguments) for arguments in chosen(slots)]
    record = calls.single(work, before=lambda _: instruments.evict(), after=lambda *_: 0)
    calls.rest()
    if record.reason:
        raise SystemExit(f"{subject.name}: no precise times: {record.reason}")
    kernels = [kernel.name for kernel in record.kernels if not kernel.name.startswith(("copy of", "fill of"))]
    spans_us = [call.span_ns / 1e3 for call in record.calls if call.span_ns is not None]
    return {
        "name": subject.name,
        "device_us": statistics.median(spans_us),
        "kernels": len(kernels),
        "calls": len(spans_us),
        "slots": len(slots),
    }


def under_ncu(device: torch.device) -> None:
    """The calls of `times` in the same cache state, without a recorder of our own."""
    from engine.clock.cache import Eviction

    cache_bytes = cache_bytes_of(device)
    evict = Eviction(device, cache_bytes)
    for subject in SUBJECTS:
        slots = slots_of(subject, device, cache_bytes)
        warm_up(subject, slots, torch.cuda.synchronize)
        for arguments in chosen(slots):
            torch.cuda.synchronize()
            evict()
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_push("timed")
            subject.call(*arguments)
            torch.cuda.nvtx.range_pop()
            torch.cuda.synchronize()
        del slots, arguments
        torch.cuda.empty_cache()


def slowdowns(device: torch.device, extra_rows: list[int]) -> dict[str, float]:
    """Median device time with so many extra rows over that with none, interleaved, at 4096x781."""
    instruments = precise_instruments(device)
    slots = slots_of(SOFTMAX, device, cache_bytes_of(device))
    warm_up(SOFTMAX, slots, torch.cuda.synchronize)
    return slowdowns_over(slots, instruments, extra_rows)


def slowdowns_over(
    slots: list[tuple[torch.Tensor, ...]], instruments: Instruments, extra_rows: list[int]
) -> dict[str, float]:
    """The ratios of `slowdowns`, measured on these slots."""
    calls, spans_us = Calls(instruments), {rows: [] for rows in (0, *extra_rows)}
    work = [lambda arguments=arguments: SOFTMAX.call(*arguments) for arguments in chosen(slots)]
    for _ in range(10):
        for rows in spans_us:
            softmax_rows.EXTRA_ROWS = rows
            record = calls.single(work, before=lambda _: instruments.evict(), after=lambda *_: 0)
            spans_us[rows] += [call.span_ns / 1e3 for call in record.calls if call.span_ns is not None]
    calls.rest()
    base_us = statistics.median(spans_us.pop(0))
    return {str(rows): statistics.median(found) / base_us for rows, found in spans_us.items()}


def main(arguments: list[str]) -> None:
    """Do one of the three."""
    device = torch.device("cuda:0")
    match arguments:
        case ["times"]:
            print(json.dumps(times(device)))
        case ["--under-ncu"]:
            under_ncu(device)
        case ["slowdowns", *rows] if rows:
            print(json.dumps(slowdowns(device, [int(row) for row in rows])))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
