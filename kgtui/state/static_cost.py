"""What is known of speed where nothing can be timed: the work of each bench case, and what the kernels take up."""

from __future__ import annotations

from engine.model import Case, Problem
from kgtui.state import numbers
from kgtui.state.benchmarks import bench_cases
from kgtui.state.glyphs import Glyphs
from kgtui.state.lines import Column, Line, Row, Span, line, muted
from kgtui.state.resources import kernel_lines
from kgtui.state.run import RunView

COLUMNS = (
    Column(label="bench case", width=21),
    Column(label="bytes", width=10),
    Column(label="operations", width=11),
    Column(label="ops/byte", width=9),
    Column(label="read", width=10),
    Column(label="written", width=10),
)
INTERPRETED = "Triton's interpreter runs here: its times are not speeds, so nothing is measured"


def cost_rows(problem: Problem, *, glyphs: Glyphs) -> tuple[Row, ...]:
    """The least work of every bench case: each input byte read once, each output byte written once."""
    return tuple(_row(problem, case, glyphs) for case in bench_cases(problem))


def static_lines(view: RunView) -> tuple[Line, ...]:
    """What the kernels take up, from the compiler, which needs no device."""
    if not view.kernels:
        return (line(muted("no kernel was compiled yet, so registers and shared memory are not known")),)
    return tuple(one for kernel in view.kernels for one in kernel_lines(kernel.launch, kernel))


def _row(problem: Problem, case: Case, glyphs: Glyphs) -> Row:
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
