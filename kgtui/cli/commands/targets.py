"""`kgtui targets`: verify one kernel file, then compile its launches for a list of targets.

No GPU is needed.  Failing candidates are compiled too, since building is a separate question; but the exit code is
never 0 for them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from engine.devices.hardware.targets import asked_target
from engine.errors import UsageError
from engine.model import Outcome
from engine.reports.run_record import RunRecord
from engine.reports.targets import Ports
from engine.run.retarget import PORTABILITY_TARGETS
from kgtui.cli.argument_groups import (
    add_cases,
    add_device,
    add_kernel_file,
    add_output_format,
    add_policy,
    add_profile,
    add_storage,
)
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.commands.check import read_request
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.runs.exit_codes import exit_of, exit_of_outcome
from kgtui.cli.runs.run_command import EngineFactory, carry_out
from kgtui.cli.runs.run_output import say_document, say_profile, say_targets

SUMMARY = "Verify a kernel file, then compile its launches for many targets."
GROUP = Group.KERNELS
STARTS_ENGINE = True

LABEL = "targets"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui targets`."""
    parser.usage = f"{parser.prog} [FILE] [--op OP] [options]"
    add_kernel_file(parser, sample="use the sample that comes with kgtui", file="the kernel file; before the options")
    add_cases(parser, text="the cases whose launches are compiled (default: full)")
    parser.add_argument(
        "--to",
        metavar="TARGET",
        nargs="+",
        action="extend",
        help="targets (default: sm_80 sm_90 sm_100 sm_120 gfx90a gfx942 gfx950 gfx1100)",
    )
    add_device(parser)
    add_policy(parser)
    add_output_format(parser)
    add_profile(parser)
    add_storage(parser)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Verify the named file, and compile its launches.

    Raises:
        KgtuiError: it could not be verified; the message says why.
    """
    targets = _targets(options.to or PORTABILITY_TARGETS)
    if options.file is None and options.to and not options.sample:
        raise UsageError("which file? put FILE before --to, which takes every word that follows")
    request = replace(read_request(options, console), label=LABEL, port_to=targets)

    def close(run: RunRecord) -> int:
        ports = run.ports
        say_document(request, console, run)
        say_profile(request, console, run)
        say_targets(request, console, ports)
        return _exit_of(console, run, ports)

    return carry_out(request, console, engine_factory=engine_factory, close=close)


def _targets(names: Sequence[str]) -> tuple[str, ...]:
    """The requested targets, without repetition."""
    return tuple(dict.fromkeys(asked_target(name).name for name in names))


def _exit_of(console: Console, run: RunRecord, ports: Ports) -> int:
    """Exit code by the verdict; for a candidate that passed, by its worst target."""
    exit_code = exit_of(run.final)
    if exit_code is not Exit.PASSED:
        return exit_code
    if not ports.asked:
        console.warn("no Triton kernel was launched, so there is nothing to compile for other targets")
        return Exit.ENGINE
    if not ports.complete:
        console.warn(ports.message or "compiling for other targets did not finish")
        return exit_of_outcome(ports.outcome or Outcome.ENGINE_ERROR)
    failed = [report.outcome or Outcome.ENGINE_ERROR for report in ports.reports if report.outcome is not Outcome.PASS]
    # A target that fails to build outranks one that could not be checked.
    return exit_of_outcome(min(failed, key=lambda outcome: outcome is Outcome.UNSUPPORTED, default=Outcome.PASS))
