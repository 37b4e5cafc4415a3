"""Text of a benchmark: its cells, its numbers, and one line a case as it arrives.

Only formats the events.  A case that was not right has no numbers here, whatever is in its record, and an unmeasured
value is a reason, never a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Cost, Launch, Outcome
from engine.model.benchmark import CaseBenchmark, Comparison, Interval, Summary

UNMEASURED, UNKNOWN, UNREPORTED = "not measured", "unknown", "unknown"
KERNEL_US = "kernel us"
CASE, DEVICE_US, CALL_US, ROOFLINE, CACHE, VERIFIED, RESOURCES = (
    "case",
    "device us",
    "call us",
    "roofline",
    "L2",
    "verified",
    "regs/spill/occ",
)

_ABSENT = "-"
_KERNELS_SHOWN = 3

Cells = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Benchmarks:
    """Measurements of a run; `doubt` is the reason why they do not count, "" if they do."""

    cases: tuple[CaseBenchmark, ...]
    summaries: tuple[Summary, ...]
    kernels: tuple[CompiledKernel, ...]
    doubt: str = ""

    @property
    def right(self) -> tuple[CaseBenchmark, ...]:
        """The cases whose timed calls all gave the right answer."""
        return tuple(case for case in self.cases if case.outcome is Outcome.PASS)

    @property
    def have_kernel_times(self) -> bool:
        """Whether the launches of some case were timed separately."""
        return any(case.kernel_us is not None for case in self.right)

    @property
    def baselines(self) -> tuple[str, ...]:
        """Baselines of all cases, in the order of the plan."""
        return tuple(dict.fromkeys(comparison.baseline for case in self.right for comparison in case.comparisons))


def without_wrong_times(benchmark: CaseBenchmark) -> CaseBenchmark:
    """The record without numbers if the outputs were not right."""
    if benchmark.outcome is Outcome.PASS:
        return benchmark
    return replace(
        benchmark, timing=None, baselines=(), comparisons=(), ratio_to_self=None, floor=None, kernel_us=None
    )  # fmt: skip


def case_text(benchmark: CaseBenchmark) -> str:
    """One case on one line, as it is reported when it is done; in ASCII, which every stream supports."""
    if benchmark.outcome is not Outcome.PASS:
        return f"{benchmark.case}: {benchmark.message or 'no reason was given'}, {benchmark.elapsed_s:.1f} s"
    times = benchmark.timing
    parts = [
        f"device {_spread(times.device_us if times else None)}",
        f"call {_spread(times.call_us if times else None)}",
    ]
    if benchmark.kernel_us is not None:
        parts.append(f"kernels {_spread(benchmark.kernel_us)}")
    parts += [f"{c.baseline} {_ratio(c)}" for c in benchmark.comparisons]
    if benchmark.floor is not None and benchmark.floor.percent is not None:
        parts.append(f"{benchmark.floor.percent:.0f}% of the roofline ({benchmark.floor.bound})")
    return f"{benchmark.case} {', '.join(parts)}, {benchmark.cache} L2, {benchmark.elapsed_s:.1f} s"


def cost_rows(costs: Mapping[str, Cost]) -> list[tuple[str, ...]]:
    """Least work of each case under a header: the inputs of its roofline time."""
    rows = [
        (name, f"{cost.bytes_read:,}", f"{cost.bytes_written:,}", f"{cost.flops:,}") for name, cost in costs.items()
    ]
    return [(CASE, "bytes read", "bytes written", "operations"), *rows]


def resource_rows(kernels: Sequence[CompiledKernel]) -> list[tuple[str, ...]]:
    """Resources of each compiled kernel on its target, under a header."""
    header = ("kernel", "target", "outcome", "registers", "spilled bytes", "shared bytes", "occupancy")
    return [header, *((k.launch.kernel, k.target, str(k.outcome), *_taken(k)) for k in kernels)]


def merged_resource_rows(kernels: Sequence[CompiledKernel]) -> list[tuple[str, ...]]:
    """The same for a terminal: short columns, and specialisations with equal resources counted in one row."""
    rows = Counter((k.launch.kernel, str(k.launch.num_warps), str(k.outcome), *_taken(k)) for k in kernels)
    header = ("kernel", "count", "warps", "outcome", "regs", "spilled", "shared", "occupancy")
    return [header, *((name, str(count), *others) for (name, *others), count in rows.items())]


def bench_cells(benchmark: CaseBenchmark, benchmarks: Benchmarks, *, sign: str = "±") -> dict[str, str]:
    """The cells of a case that was right, by the names of their columns."""
    times, floor = benchmark.timing, benchmark.floor
    comparison_by_baseline = {comparison.baseline: comparison for comparison in benchmark.comparisons}
    is_known = floor is not None and floor.percent is not None
    return {
        CASE: benchmark.case,
        DEVICE_US: _plus_minus(times.device_us if times else None, sign=sign),
        CALL_US: _plus_minus(times.call_us if times else None, sign=sign),
        **({KERNEL_US: _plus_minus(benchmark.kernel_us, sign=sign)} if benchmarks.have_kernel_times else {}),
        **{column_of(name): _compared(comparison_by_baseline.get(name)) for name in benchmarks.baselines},
        ROOFLINE: f"{floor.percent:.0f}% {floor.bound}" if floor and is_known else UNKNOWN,
        CACHE: benchmark.cache,
        VERIFIED: f"{benchmark.verified}/{benchmark.calls}",
        RESOURCES: _resources(benchmark, benchmarks.kernels),
    }


def column_of(baseline: str) -> str:
    """The column that compares with a baseline: its time over the candidate's."""
    return f"vs {baseline}"


def failure_of(benchmark: CaseBenchmark) -> str:
    """Why a case has no numbers."""
    return f"{benchmark.outcome}: {benchmark.message or 'no reason was given'}"


def number(value: float) -> str:
    """Four significant digits, at most three of them after the decimal point."""
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, 4 - whole)}f}"


def bracketed(interval: Interval) -> str:
    """The estimate with its interval."""
    return f"{number(interval.value)} [{number(interval.low)}, {number(interval.high)}]"


def _resources(benchmark: CaseBenchmark, kernels: Sequence[CompiledKernel]) -> str:
    """Registers, spilled bytes and theoretical occupancy of each kernel that the case launches."""
    kernel_by_key = {_key(kernel.launch): kernel for kernel in kernels}
    found = [kernel_by_key.get(_key(launch)) for launch in benchmark.launches]
    shown = [
        f"{_amount(kernel.registers)}/{_amount(kernel.spill_bytes)}/{_occupied(kernel)}" if kernel else _ABSENT
        for kernel in found[:_KERNELS_SHOWN]
    ]
    more = [f"+{len(found) - _KERNELS_SHOWN}"] if len(found) > _KERNELS_SHOWN else []
    return " ".join((*shown, *more)) or _ABSENT


def _taken(kernel: CompiledKernel) -> tuple[str, ...]:
    """Registers, spilled bytes, shared bytes and occupancy."""
    filled = occupancy(kernel)
    amounts = (kernel.registers, kernel.spill_bytes, kernel.shared_bytes)
    return (
        *(UNREPORTED if value is None else str(value) for value in amounts),
        f"{filled.percent:.0f}%, {filled.limited_by}" if filled is not None else UNREPORTED,
    )


def _occupied(kernel: CompiledKernel) -> str:
    filled = occupancy(kernel)
    return f"{filled.percent:.0f}%" if filled is not None else _ABSENT


def _key(launch: Launch) -> tuple[object, ...]:
    """The fields of a launch that its compiled code depends on: not the grid, and not the number of launches."""
    mappings = (launch.signature, launch.constants, launch.options)
    return (
        launch.kernel,
        launch.num_warps,
        launch.num_stages,
        launch.divisible_by_16,
        *(tuple(sorted(mapping.items())) for mapping in mappings),
    )


def _plus_minus(interval: Interval | None, *, sign: str) -> str:
    if interval is None:
        return UNMEASURED
    decimals = len(number(interval.value).partition(".")[2])
    return f"{number(interval.value)} {sign}{(interval.high - interval.low) / 2:.{decimals}f}"


def _spread(interval: Interval | None) -> str:
    if interval is None:
        return UNMEASURED
    return f"{number(interval.value)} us ({number(interval.low)} .. {number(interval.high)})"


def _compared(comparison: Comparison | None) -> str:
    return UNMEASURED if comparison is None else f"{bracketed(comparison.speedup)} {comparison.standing}"


def _ratio(comparison: Comparison) -> str:
    low, high = number(comparison.speedup.low), number(comparison.speedup.high)
    return f"{number(comparison.speedup.value)}x ({low} .. {high}) {comparison.standing}"


def _amount(value: int | None) -> str:
    return _ABSENT if value is None else str(value)
