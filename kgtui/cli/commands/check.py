"""`kgtui check`: verify one kernel file, print the progress, and exit with a code for scripts."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.errors import UsageError
from engine.model import Policy, Problem
from engine.reports.markdown import as_markdown
from engine.reports.printable import printable
from engine.reports.run_record import RunRecord
from engine.reports.text import as_json
from kgtui.cli.argument_groups import (
    add_batch,
    add_cases,
    add_device,
    add_kernel_file,
    add_output_format,
    add_policy,
    add_profile,
    add_seed,
    add_storage,
)
from kgtui.cli.choices import (
    FILES_OF_CANDIDATES,
    SAMPLE,
    SAMPLE_OPERATOR,
    KernelFile,
    problem_for,
    read_kernel,
    tiers_for,
    words_on_cases,
    words_on_no_target,
)
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import place_for
from kgtui.cli.runs.exit_codes import exit_of
from kgtui.cli.runs.run_command import EngineFactory, Request, carry_out
from kgtui.cli.runs.run_output import say_document, say_profile
from kgtui.cli.runs.stages import Stages, print_stages, staged
from kgtui.settings.paths import absolute
from kgtui.settings.preferences import NO_TARGET

SUMMARY = "Verify a kernel file once, or many candidates, without a screen."
GROUP = Group.KERNELS
STARTS_ENGINE = True

LABEL = "check"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui check`."""
    parser.usage = (
        f"{parser.prog} [FILE] [--op OP] [options]\n       {parser.prog} --candidates PATH [--resume] [options]"
    )
    add_kernel_file(parser, sample="verify the sample that comes with kgtui")
    add_cases(parser, text="which cases to verify (default: full)")
    add_device(parser)
    add_policy(parser)
    add_seed(parser)
    add_output_format(parser)
    add_profile(parser)
    parser.add_argument(
        "--stages", action="store_true",
        help="with a suite: find the first intermediate of the reference that differs; nothing is saved",
    )  # fmt: skip
    add_storage(parser)
    add_batch(parser)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Verify the named file.

    Raises:
        KgtuiError: it could not be verified; the message says why.
    """
    if options.candidates is not None:
        if options.seed is not None:
            raise UsageError("--seed is for one kernel file; leave it out with --candidates")
        from kgtui.cli.batches.run import check_batch

        return check_batch(options, console, engine_factory=engine_factory)
    _require_single(options)
    _require_source(options, console)
    request = replace(read_request(options, console), draw_seed=options.seed)
    stages: Stages | None = None
    if options.stages:
        request, stages = staged(request)

    def close(run: RunRecord) -> int:
        say_document(request, console, run)
        say_profile(request, console, run)
        if stages is not None:
            print_stages(request, console, run, stages)
        return exit_of(run.final)

    return carry_out(request, console, engine_factory=engine_factory, close=close)


def _require_single(options: argparse.Namespace) -> None:
    """Reject options that have a meaning only for a batch.

    Raises:
        UsageError: one was given without `--candidates`.
    """
    given = {
        "--output": bool(options.output),
        "--resume": options.resume,
        "--jobs": options.jobs != 1,
        "--no-timing": options.no_timing,
    }
    for name in (name for name, is_given in given.items() if is_given):
        raise UsageError(
            f"{name} needs many candidates: `kgtui check --candidates PATH {name}`; leave it out with FILE"
        )


def _require_source(options: argparse.Namespace, console: Console) -> None:
    """Reject a folder, an answer or a JSON Lines file, which `--candidates` reads.

    Raises:
        UsageError: FILE is a folder, or has the suffix of one of the others.
    """
    if options.file is None:
        return
    if _is_folder(absolute(options.file, console.folder)):
        raise UsageError(
            f"{printable(str(options.file))} is a folder; a candidate is one Python file, "
            f"and --candidates {printable(str(options.file))} verifies a folder of them"
        )
    if str(options.file).endswith(FILES_OF_CANDIDATES):
        raise UsageError(f"FILE must be a Python file; --candidates {options.file} reads answers, rows and Solutions")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # below a folder that may not be read
        return False


def read_request(options: argparse.Namespace, console: Console) -> Request:
    """The request of the command line.

    Raises:
        KgtuiError: the file, operator, device or target does not exist here.
    """
    file, problem = kernel_and_problem(options, console)
    device, target = place_for(options, console, file=file)
    tiers = tiers_for(file, options.cases)
    if options.cases is None and (words := words_on_cases(file, problem, tiers)):
        console.warn(words)
    if options.target is None and file.directives.get("target") == NO_TARGET:
        console.warn(words_on_no_target(file, device))
    return Request(
        label=LABEL,
        file=file,
        problem=problem,
        device=device,
        target=target,
        tiers=tiers,
        policy=Policy(options.policy),
        is_kept=not options.no_store,
        is_plain=options.plain,
        document=document_for(options),
        wants_profile=options.profile,
    )


def kernel_and_problem(options: argparse.Namespace, console: Console) -> tuple[KernelFile, Problem]:
    """The requested file and operator, or the sample and its operator.

    Raises:
        UsageError: no file was named, it cannot be read, or it names no operator.
    """
    command, index = options.command, problem_index(options, console)
    if options.sample:
        if options.file is not None:
            raise UsageError(f"--sample verifies the sample; to verify {options.file}, omit --sample")
        file = read_kernel(SAMPLE, shown=SAMPLE.name)
        return file, problem_for(file, options.op or SAMPLE_OPERATOR, index)
    if options.file is None:
        raise UsageError(f"which file? `kgtui {command} FILE --op OP` verifies a kernel file, --sample the sample")
    file = read_kernel(absolute(options.file, console.folder), shown=options.file)
    if file.complaint:
        console.warn(file.complaint)
    return file, problem_for(file, options.op, index)


def document_for(options: argparse.Namespace) -> Callable[[RunRecord], str] | None:
    """The one document that is printed at the end; None for line output."""
    if options.json:
        return as_json
    if options.markdown:
        return lambda run: as_markdown(run, with_profile=options.profile)
    return None
