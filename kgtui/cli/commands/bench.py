"""`kgtui bench`: verify one kernel file, then time it beside the baselines.

Correctness gates speed: the SMOKE and FULL cases are verified first, and only passing cases are timed.  If nothing can
be timed, a line before the run says so, and no number is invented.
"""

from __future__ import annotations

import argparse

from engine.devices import platform_named
from engine.errors import UsageError
from engine.judge.baselines import baseline_names
from engine.model import BenchmarkPlan, CacheState, Outcome, Policy, Problem, Tier
from engine.model.layers import left_out_count
from engine.reports.bench import failure_of
from engine.reports.plain_lines import PlainLine
from engine.reports.printable import printable
from engine.reports.run_record import RunRecord
from engine.reports.text import TIMING
from kgtui.cli.argument_groups import (
    add_device,
    add_kernel_file,
    add_output_format,
    add_policy,
    add_profile,
    add_storage,
    seconds,
)
from kgtui.cli.choices import timed_cases
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.commands.check import document_for, kernel_and_problem
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import place_for
from kgtui.cli.runs.exit_codes import exit_of, exit_of_outcome
from kgtui.cli.runs.run_command import EngineFactory, Request, carry_out, print_state
from kgtui.cli.runs.run_output import say_benchmark, say_document, say_profile

SUMMARY = "Verify a kernel file, then time it against the baselines."
GROUP = Group.KERNELS
STARTS_ENGINE = True

LABEL = "bench"

_VERIFIED = (Tier.SMOKE, Tier.FULL)
_EXECUTED_ON_CPU = (
    "kernels are executed on the CPU here: timings are meaningless, so nothing is timed; "
    "estimates without a clock follow the verdict"
)


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui bench`."""
    parser.usage = f"{parser.prog} [FILE] [--op OP] [options]"
    baselines = baseline_names()
    add_kernel_file(parser, sample="time the sample that comes with kgtui", file="the kernel file; before the options")
    parser.add_argument(
        "--cases",
        metavar="CASE",
        nargs="+",
        action="extend",
        help="what to time: bench, full, smoke, or names of cases (default: bench)",
    )
    parser.add_argument("--l2", choices=("cold", "warm"), help="the second-level cache before a call (default: cold)")
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        nargs="+",
        action="extend",
        choices=baselines,
        help=f"what to compare with: {', '.join(baselines)} (default: eager)",
    )
    parser.add_argument("--seconds", metavar="S", type=seconds, help="the time limit of one case (default: 1.1)")
    add_device(parser)
    add_policy(parser)
    add_output_format(parser)
    add_profile(parser)
    add_storage(parser)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Verify and time the named file.

    Raises:
        KgtuiError: it could not be verified; the message says why.
    """
    request = read_request(options, console)
    if request.benchmark is None:
        print_state(request, console, PlainLine(label=TIMING, state=Outcome.UNSUPPORTED, text=_EXECUTED_ON_CPU))

    def close(run: RunRecord) -> int:
        say_document(request, console, run)
        say_profile(request, console, run)
        say_benchmark(request, console, run)
        return exit_of_bench(request, console, run)

    return carry_out(request, console, engine_factory=engine_factory, close=close)


def read_request(options: argparse.Namespace, console: Console) -> Request:
    """The request of the command line; without a benchmark if nothing can be timed.

    Raises:
        KgtuiError: the file, operator, device or target does not exist here.
    """
    if options.file is None and (options.cases or options.baseline) and not options.sample:
        raise UsageError("which file? put FILE before --cases and --baseline: they take every word that follows")
    file, problem = kernel_and_problem(options, console)
    device, target = place_for(options, console, file=file)
    plan = _plan(options, problem)
    return Request(
        label=LABEL,
        file=file,
        problem=problem,
        device=device,
        target=target,
        tiers=_VERIFIED,
        policy=Policy(options.policy),
        is_kept=not options.no_store,
        is_plain=options.plain,
        document=document_for(options),
        wants_profile=options.profile,
        costs={case.name: problem.cost(case) for case in plan.cases},
        benchmark=None if platform_named(device.platform).EXECUTED_ON_CPU else plan,
    )


def exit_of_bench(request: Request, console: Console, run: RunRecord) -> int:
    """Exit code by the verdict; never success when cases that should have been timed were not."""
    exit_code = exit_of(run.final)
    if exit_code is not Exit.PASSED or request.benchmark is None:
        return exit_code
    exit_code, reason = _shortfall(run, planned=len(request.benchmark.cases))
    if reason:
        console.warn(printable(reason))
    return exit_code


def _plan(options: argparse.Namespace, problem: Problem) -> BenchmarkPlan:
    return BenchmarkPlan(
        cases=timed_cases(problem, options.cases or (Tier.BENCH,)),
        cache=CacheState(options.l2 or BenchmarkPlan.cache),
        baselines=tuple(dict.fromkeys(options.baseline or BenchmarkPlan.baselines)),
        case_s=options.seconds or BenchmarkPlan.case_s,
    )


def _shortfall(run: RunRecord, *, planned: int) -> tuple[Exit, str]:
    """Sentence on missing measurements of a passing candidate, with the exit code; "" when nothing is missing.

    Cases that were left out on purpose are not missing, as long as one was timed.
    """
    benchmarks = run.benchmark_report
    failed = [case for case in benchmarks.cases if case.outcome is not Outcome.PASS]
    if failed:
        reason = f"{len(failed)} of {planned} cases could not be timed: {failed[0].case}: {failure_of(failed[0])}"
        return exit_of_outcome(failed[0].outcome), reason
    unmeasured = [case for case in benchmarks.right if case.timing is None or case.timing.device_us is None]
    if unmeasured:
        notes = unmeasured[0].timing.notes if unmeasured[0].timing is not None else ()
        why = "; ".join(notes) or "no reason was given"
        return Exit.ENGINE, f"{len(unmeasured)} of {planned} cases have no device time: {unmeasured[0].case}: {why}"
    left_out = left_out_count(run.layers) if benchmarks.cases else 0
    missing = planned - len(benchmarks.cases) - left_out
    if missing > 0:
        return Exit.ENGINE, f"{missing} of {planned} cases were not timed, and the engine gave no reason"
    return Exit.PASSED, ""
