"""Static cost if nothing can be timed: the work of each bench case, and the resources of the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.model import Case, CompiledKernel, Launch, Outcome, Problem
from engine.reports.run_record import RunRecord
from kgtui.state.bench.benchmarks import bench_cases
from kgtui.state.bench.detail import LABEL
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Column, Line, Row, Span, line, muted
from kgtui.state.run.resources import kernel_lines, resource_words
from kgtui.state.run.tables import left_out_note
from kgtui.state.run.traffic import traffic_lines

COLUMNS = (
    Column(label="bench case", width=21),
    Column(label="bytes", width=10),
    Column(label="operations", width=11),
    Column(label="ops/byte", width=9),
    Column(label="read", width=10),
    Column(label="written", width=10),
)
_MOST_LINES = 6
EXECUTED_ON_CPU = "kernels are executed on the CPU here: timings are meaningless, so nothing is timed"


def cost_rows(problem: Problem, *, glyphs: Glyphs) -> tuple[Row, ...]:
    """The least work of every bench case: each input byte read once, each output byte written once.

    Dashes for a foreign problem, whose work is unknown before its reference has run.
    """
    return tuple(_row(problem, case, glyphs) for case in bench_cases(problem))


def static_lines(view: RunRecord) -> tuple[Line, ...]:
    """Resources of the kernels, from the compiler, which needs no device."""
    if not view.kernels:
        return (line(muted("no kernel was compiled yet, so registers and shared memory are unknown")),)
    alike: dict[tuple[str, int, int, str], list[CompiledKernel]] = {}
    for kernel in view.kernels:
        launch = kernel.launch
        alike.setdefault((launch.kernel, launch.num_warps, launch.num_stages, kernel.target), []).append(kernel)
    note = left_out_note(view)
    return (*(one for kernels in alike.values() for one in _specialisations(kernels)), *((note,) if note else ()))


def _specialisations(kernels: Sequence[CompiledKernel]) -> Iterator[Line]:
    """Resources of each specialisation of one kernel, equal ones once, the largest first.
    Then the memory accesses of the specialisation whose first launch requested most bytes.
    """
    heading, _ = kernel_lines(kernels[0].launch, kernels[0])
    counted = Counter(resource_words(kernel) for kernel in sorted(kernels, key=_takes_most_first))
    if len(kernels) > 1:
        heading = (*heading, muted(f"  {len(kernels)} specialisations, largest first"))
    yield heading
    for words, count in list(counted.items())[:_MOST_LINES]:
        label = f"{count} of {len(kernels)}" if len(kernels) > 1 else ""
        yield (muted(f"{label:<{LABEL}}"), *words)
    if len(counted) > _MOST_LINES:
        rest = len(kernels) - sum(list(counted.values())[:_MOST_LINES])
        yield line(muted(f"{'':<{LABEL}}and {rest} that take less, which the IR tab lists"))
    yield from traffic_lines(max((kernel.launch for kernel in kernels), key=_requested_bytes))


def _requested_bytes(launch: Launch) -> int:
    accesses = launch.traffic.accesses if launch.traffic is not None else ()
    return sum(access.requested_bytes for access in accesses)


def _takes_most_first(kernel: CompiledKernel) -> tuple[bool, int, int, int]:
    known = (kernel.spill_bytes, kernel.registers, kernel.shared_bytes)
    spills, registers, shared = (-(value or 0) for value in known)
    return kernel.outcome is Outcome.PASS, spills, registers, shared


def _row(problem: Problem, case: Case, glyphs: Glyphs) -> Row:
    if problem.suite is not None:  # its work is only known in the judge
        return Row(key=case.name, cells=(Span(case.name), *(muted(glyphs.dash) for _ in range(5))))
    cost = problem.cost(case)
    cells = (
        Span(case.name),
        Span(numbers.bytes_of(cost.bytes_read + cost.bytes_written)),
        Span(numbers.count_of(cost.flops)),
        Span(numbers.intensity(cost) or glyphs.dash),
        muted(numbers.bytes_of(cost.bytes_read)),
        muted(numbers.bytes_of(cost.bytes_written)),
    )
    return Row(key=case.name, cells=cells)
