"""What is printed once a run has ended: its document, its profile, the table of its benchmark.

Text that a candidate had a hand in reaches a terminal only with its control characters spelled out.
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
    """The one document that was asked for, where one was."""
    if request.document is not None:
        console.hand_out(request.document(run).removesuffix("\n"))


def say_profile(request: Request, console: Console, run: RunRecord) -> None:
    """Where the time of the run went, where that was asked for; a document holds it already."""
    if request.wants_profile and request.document is None:
        _say(console, profile_lines(run, width=console.width, is_ascii=not console.can_write(_SIGNS)))


def say_benchmark(request: Request, console: Console, run: RunRecord) -> None:
    """What was timed; where nothing was, what is known without a device.  A document holds it already."""
    if request.document is not None:
        return
    benchmarks = run.benchmark_report
    if benchmarks.cases:
        _say(console, bench_lines(benchmarks, width=console.width, is_ascii=not console.can_write(_SIGNS)))
        return
    _say(console, ["nothing was timed; what each case cannot do without:", *aligned(cost_rows(run.costs))])
    if run.kernels:
        head = f"what each kernel takes of {run.target}, memory in bytes:"
        _say(console, [head, *aligned(merged_resource_rows(run.kernels))])


def say_targets(request: Request, console: Console, ports: Ports) -> None:
    """What the launches take up on every target, and why they do not build for some.  A document holds it already."""
    if request.document is None and ports.asked:
        _say(console, [*aligned(target_table(ports.reports)), *first_errors(ports.reports)])


def _say(console: Console, lines: Iterable[str]) -> None:
    """A block of its own."""
    console.say("\n".join(("", *map(printable, lines))))
