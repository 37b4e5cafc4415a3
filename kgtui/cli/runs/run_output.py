"""Output after the end of a run: its document, its profile, the table of its benchmark.

Text influenced by a candidate is printed to a terminal only with its control characters escaped.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.reports.bench import cost_rows, merged_resource_rows
from engine.reports.printable import printable
from engine.reports.profile import profile_lines
from engine.reports.run_record import RunRecord
from engine.reports.table import aligned, bench_lines
from engine.reports.targets import Ports, first_errors, target_table
from kgtui.cli.console import Console
from kgtui.cli.runs.run_command import Request

_SIGNS = "±█·"


def say_document(request: Request, console: Console, run: RunRecord) -> None:
    """Print the requested document, if any."""
    if request.document is not None:
        console.write_document(request.document(run).removesuffix("\n"))


def say_profile(request: Request, console: Console, run: RunRecord) -> None:
    """Print the time of the run by kind of work, if requested; a document already contains it."""
    if request.wants_profile and request.document is None:
        _say(console, profile_lines(run, width=console.width, is_ascii=not console.can_write(_SIGNS)))


def say_benchmark(request: Request, console: Console, run: RunRecord) -> None:
    """Print the benchmark, or the static cost if nothing was timed.  A document already contains it."""
    if request.document is not None:
        return
    benchmarks = run.benchmark_report
    if benchmarks.cases:
        _say(console, bench_lines(benchmarks, width=console.width, is_ascii=not console.can_write(_SIGNS)))
        return
    _say(console, ["nothing was timed; lower bound of each case:", *aligned(cost_rows(run.costs))])
    if run.kernels:
        head = f"resources of each kernel on {run.target}, memory in bytes:"
        _say(console, [head, *aligned(merged_resource_rows(run.kernels))])


def say_targets(request: Request, console: Console, ports: Ports) -> None:
    """Print resources and errors of the launches on every target.  A document already contains them."""
    if request.document is None and ports.asked:
        _say(console, [*aligned(target_table(ports.reports)), *first_errors(ports.reports)])


def _say(console: Console, lines: Iterable[str]) -> None:
    """Print the lines after an empty one."""
    console.say("\n".join(("", *map(printable, lines))))
