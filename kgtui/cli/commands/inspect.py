"""`kgtui inspect`: verify a kernel file with every available check, and print the results on one page.

The page is the output; progress goes to the error stream.  A claimed speed-up never changes the verdict; for a passing
kernel, the exit code depends on whether the claim is supported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime

from engine.devices import platform_named
from engine.inspection.evidence import Inspection, inspect
from engine.inspection.html import as_html
from engine.inspection.page import page_of
from engine.inspection.plan import benchmark_plan
from engine.inspection.speedup_claim import Backing, Claim, parse_claim
from engine.inspection.text import as_json, as_markdown, page_lines
from engine.judge.baselines import baseline_names
from engine.model import Policy, Tier
from engine.reports.run_record import RunRecord
from engine.static.source import SourceError, decode
from kgtui.cli.argument_groups import add_device, add_kernel_file, add_output_format, add_policy, add_storage
from kgtui.cli.choices import KernelFile
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.commands.bench import exit_of_bench
from kgtui.cli.commands.check import kernel_and_problem
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import place_for
from kgtui.cli.runs.exit_codes import exit_of
from kgtui.cli.runs.result_lines import show_page
from kgtui.cli.runs.run_command import EngineFactory, Request, carry_out
from kgtui.runner.run_environment import environment_of

SUMMARY = "Run every check on a kernel file and report on one page."
GROUP = Group.KERNELS
STARTS_ENGINE = True

LABEL = "inspect"

_VERIFIED = (Tier.SMOKE, Tier.FULL)
_WIDEST = 100  # limit for readability
_CLAIM_EXITS = """\
The page is the output, and progress goes to the error stream. A claim does not change the verdict,
only the exit code of a correct and credible kernel: 0 the claim is supported or exceeded,
1 it is not supported, 3 it was not measured. The other exit codes are those of every command:
1 failed, 4 flagged."""


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui inspect`."""
    parser.usage = f"{parser.prog} [FILE] [--op OP] [options]"
    parser.epilog = _CLAIM_EXITS
    add_kernel_file(parser, sample="inspect the sample that comes with kgtui")
    parser.add_argument(
        "--claim", metavar="CLAIM", help='the claimed speed-up: 2.3x, or against another baseline "2.3x compile"'
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="run compute-sanitizer over one call of a kernel that passes, on NVIDIA GPUs",
    )
    add_device(parser)
    add_policy(parser)
    formats = add_output_format(parser)
    formats.add_argument("--html", action="store_true", help="one HTML file, progress on the error stream")
    add_storage(parser)


def run(
    options: argparse.Namespace,
    console: Console,
    *,
    engine_factory: EngineFactory | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> int:
    """Inspect the given file.

    Raises:
        KgtuiError: it could not be verified; the message says why.
    """
    claim = parse_claim(options.claim, baselines=baseline_names()) if options.claim is not None else None
    request = read_request(options, console, claim)

    def close(run: RunRecord) -> int:
        inspection = inspect(
            run,
            problem=request.problem,
            source=text_of(request.file),
            claim=claim,
            versions=environment_of(request.device),
            inspected_at=now().isoformat(timespec="seconds"),
        )
        _say(options, console, inspection)
        return _exit_of(request, console, run, inspection)

    return carry_out(request, console, engine_factory=engine_factory, close=close)


def read_request(options: argparse.Namespace, console: Console, claim: Claim | None) -> Request:
    """The request of the command line; without a benchmark if nothing can be timed.

    Raises:
        KgtuiError: the file, operator, device or target does not exist here.
    """
    file, problem = kernel_and_problem(options, console)
    device, target = place_for(options, console, file=file)
    plan = None if platform_named(device.platform).EXECUTED_ON_CPU else benchmark_plan(problem, claim)
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
        document=None,
        benchmark=plan,
        is_aside=True,
        sanitizes=options.sanitize,
    )


def text_of(file: KernelFile) -> str:
    """The text of the file; "" for a binary file, which the verdict reports."""
    try:
        return decode(file.content, file.shown)
    except SourceError:
        return ""


def _say(options: argparse.Namespace, console: Console, inspection: Inspection) -> None:
    formats = ((options.json, as_json), (options.markdown, as_markdown), (options.html, as_html))
    document = next((make for asked, make in formats if asked), None)
    if document is not None:
        console.write_document(document(inspection).removesuffix("\n"))
    else:
        page = page_of(inspection, is_ascii=not console.can_write("±"))
        show_page(console, page_lines(page, width=min(console.width, _WIDEST)), plain=options.plain)


def _exit_of(request: Request, console: Console, run: RunRecord, inspection: Inspection) -> int:
    """Exit code by the verdict; for a passing candidate, by the claim."""
    exit_code, held = exit_of(run.final), inspection.claim
    if exit_code is Exit.PASSED and held is not None:
        if held.backing is Backing.NOT_SUPPORTED:
            return Exit.FAILED
        if held.backing is Backing.NOT_MEASURED:
            return Exit.ENGINE
    return exit_of_bench(request, console, run)
