"""The cases of a benchmark as a table, for terminals of any width.

If a line for each case would be too long, every case takes two.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from engine.model.benchmark import CaseBenchmark
from engine.reports.bench import (
    CACHE,
    CALL_US,
    CASE,
    DEVICE_US,
    KERNEL_US,
    RESOURCES,
    ROOFLINE,
    VERIFIED,
    Benchmarks,
    Cells,
    bench_cells,
    column_of,
    failure_of,
)
from engine.reports.remarks import Remark, remarks_on

_GAP = "  "
_INDENT = "  "
_LABEL_WIDTH = 12


def bench_lines(benchmarks: Benchmarks, *, width: int, is_ascii: bool = False) -> list[str]:
    """The table of all cases, in two lines a case if one would not fit, and every remark below it."""
    sign = "+-" if is_ascii else "±"
    lines = _wide_table(benchmarks, width=width, sign=sign) or _narrow_table(benchmarks, width=width, sign=sign)
    remarks = [line for remark in remarks_on(benchmarks) for line in _wrapped(remark, width=width)]
    return [*lines, "", *remarks] if remarks else lines


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns as wide as their widest cell, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            cell.rjust(wide) if place else cell.ljust(wide)
            for place, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _wide_table(benchmarks: Benchmarks, *, width: int, sign: str) -> list[str] | None:
    """A line for each case; None when that needs more than `width`."""
    columns = (
        CASE,
        DEVICE_US,
        *_kernel_column(benchmarks),
        CALL_US,
        *map(column_of, benchmarks.baselines),
        ROOFLINE,
        CACHE,
        VERIFIED,
        RESOURCES,
    )
    cells_by_case = {case.case: bench_cells(case, benchmarks, sign=sign) for case in benchmarks.right}
    names = max((len(case.case) for case in benchmarks.cases), default=0)
    measure = _measure(columns, cells_by_case.values(), at_least={CASE: names})
    if sum(measure.values()) + len(_GAP) * (len(columns) - 1) > width:
        return None
    lines = [_line(dict(zip(columns, columns, strict=True)), measure)]
    for case in benchmarks.cases:
        cells = cells_by_case.get(case.case)
        lines += [_line(cells, measure)] if cells else _failed(case, names=names, width=width)
    return lines


def _narrow_table(benchmarks: Benchmarks, *, width: int, sign: str) -> list[str]:
    """Two lines for each case, and one more for each baseline after the first."""
    first, *others = benchmarks.baselines or ("",)
    upper = (CASE, CACHE, VERIFIED, RESOURCES)
    lower = (DEVICE_US, *_kernel_column(benchmarks), CALL_US, ROOFLINE, *((column_of(first),) if first else ()))
    cells_by_case = {case.case: bench_cells(case, benchmarks, sign=sign) for case in benchmarks.right}
    names = max((len(case.case) for case in benchmarks.cases), default=0)
    uppers = _measure(upper, cells_by_case.values(), at_least={CASE: names})
    lowers = _measure(lower, cells_by_case.values(), at_least={})
    lines = [
        _line(dict(zip(upper, upper, strict=True)), uppers),
        _INDENT + _line(dict(zip(lower, lower, strict=True)), lowers),
    ]
    for case in benchmarks.cases:
        cells = cells_by_case.get(case.case)
        if cells is None:
            lines += _failed(case, names=names, width=width)
            continue
        lines += [_line(cells, uppers), _INDENT + _line(cells, lowers)]
        lines += [f"{_INDENT}{column_of(name)}: {cells[column_of(name)]}" for name in others]
    return lines


def _kernel_column(benchmarks: Benchmarks) -> tuple[str, ...]:
    """The column of the launches alone, if some case has it."""
    return (KERNEL_US,) if benchmarks.have_kernel_times else ()


def _measure(columns: Iterable[str], rows: Iterable[Cells], *, at_least: Mapping[str, int]) -> dict[str, int]:
    """Width of each column."""
    held = list(rows)
    return {
        column: max(len(column), at_least.get(column, 0), *(len(cells[column]) for cells in held)) for column in columns
    }


def _line(cells: Cells, measure: Mapping[str, int]) -> str:
    """The cells in columns; numbers to the right, words to the left."""
    numbers = (DEVICE_US, KERNEL_US, CALL_US, VERIFIED)
    return _GAP.join(
        cells[column].rjust(wide) if column in numbers else cells[column].ljust(wide)
        for column, wide in measure.items()
    ).rstrip()


def _failed(benchmark: CaseBenchmark, *, names: int, width: int) -> list[str]:
    head = f"{benchmark.case:<{names}}{_GAP}"
    return textwrap.wrap(failure_of(benchmark), width, initial_indent=head, subsequent_indent=_INDENT)


def _wrapped(remark: Remark, *, width: int) -> list[str]:
    head = f"{remark.label:<{_LABEL_WIDTH - 1}} "
    return textwrap.wrap(remark.text, width, initial_indent=head, subsequent_indent=" " * _LABEL_WIDTH)
