"""`kgtui tune`: run a kernel file with other values of its constants and launch options.

Every variant is a run in the store under the tag "tune", with its values in the note.  The user's file is written only
if a faster variant was measured, the change was shown, and the user confirmed it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import difflib
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from engine.devices import platform_named
from engine.errors import UsageError
from engine.model import BenchmarkPlan, Tier
from engine.reports.printable import printable
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from engine.reports.table import aligned
from engine.tuning.trials import AS_IT_IS, Trial, plain_trial, proposed, trial_rows, why_none
from engine.tuning.tunables import Tunable, Variant, configurations, tunables_of, variants
from kgtui.cli.argument_groups import add_cases, add_device, add_kernel_file, add_policy, add_storage
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.commands.check import read_request
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.cli.runs.run_command import EngineFactory, Request, StartedEngine, real_engine, recording_of
from kgtui.files import disk
from kgtui.ports.protocols import Recording
from kgtui.ports.requests import Priority, RunHeader
from kgtui.runner.driver import RunDriver
from kgtui.settings.paths import find_paths
from sessions.rows import VARIANT_TAG

SUMMARY = "Run a kernel file with other values of its constants and launch options."
GROUP = Group.KERNELS
STARTS_ENGINE = True

_LARGEST = 2**63 - 1
_SHOWN_CHARACTERS = 80

LABEL = "tune"
JSON_SCHEMA = "kgtui.tune/1"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui tune`."""
    parser.usage = f"{parser.prog} [FILE] [--op OP] [--set NAME=V,V ...] [options]"
    add_kernel_file(parser, sample="tune the sample that comes with kgtui", file="the kernel file; before the options")
    parser.add_argument(
        "--set",
        metavar="NAME=V,V",
        nargs="+",
        action="extend",
        help="the values to try, in every combination (default: each entry of the file's autotune list)",
    )
    add_cases(parser, text="which cases to verify (default: full)")
    add_device(parser)
    add_policy(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, progress on the error stream")
    add_storage(parser)
    parser.set_defaults(plain=True, markdown=False, profile=False)


def run(options: argparse.Namespace, console: Console, *, engine_factory: EngineFactory | None = None) -> int:
    """Try every variant of the given file.

    Raises:
        KgtuiError: it could not be run; the message says why.
    """
    request = replace(read_request(options, console), label=LABEL)
    if not platform_named(request.device.platform).EXECUTED_ON_CPU:
        cases = tuple(case for case in request.problem.cases if case.tier is Tier.BENCH)
        request = replace(request, benchmark=BenchmarkPlan(cases=cases) if cases else None)
    grid = _grid(request, options.set or ())
    trials = _recorded(request, grid, console, engine_factory or real_engine)
    winner = proposed(trials)
    if options.json:
        document = {
            "schema": JSON_SCHEMA,
            "file": request.file.shown,
            "problem": request.problem.name,
            "trials": [plain_trial(trial) for trial in trials],
            "proposed": winner.variant.name if winner else None,
            "why_none": None if winner else why_none(trials),
        }
        console.write_document(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        console.say("\n".join(("", *map(printable, aligned(trial_rows(trials))), "")))
        if winner is None:
            console.say(why_none(trials))
        else:
            _propose(request, winner, console)
    return Exit.PASSED if any(trial.is_right for trial in trials) else Exit.FAILED


def read_values(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Parse `BLOCK=64,128` for each name.

    Raises:
        UsageError: a text is not of that form.
    """
    values: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, _, given = text.partition("=")
        try:
            values[name] = tuple(int(one) for one in given.split(","))
            if any(abs(value) > _LARGEST for value in values[name]):
                raise ValueError("a constant of a kernel has at most 64 bits")
        except ValueError as error:
            raise UsageError(
                f"{printable(text[:_SHOWN_CHARACTERS])!r} should be a name and whole numbers of at most 64 bits, "
                "such as num_warps=2,4,8"
            ) from error
    return values


def _grid(request: Request, chosen: Sequence[str]) -> tuple[Variant, ...]:
    """The variants to try, the unchanged file first."""
    source = request.file.content
    try:
        made = variants(source, read_values(chosen)) if chosen else configurations(source)
        tunables = tunables_of(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{request.file.shown} is not valid Python: {error}") from error
    if not made:
        known = ", ".join(f"{tunable.name}={tunable.value or '?'}" for tunable in tunables)
        example = f": give values, such as --set {_example(tunables[0])}; it has {known}" if tunables else ""
        raise UsageError(
            f"{request.file.shown} has no autotune list to choose from" + (example or " and no tunable parameters")
        )
    return (Variant(name=AS_IT_IS, source=source), *(variant for variant in made if variant.source != source))


def _example(tunable: Tunable) -> str:
    """Half, all and twice of its value."""
    value = int(tunable.value) if tunable.value and tunable.value.isdecimal() else 0
    return f"{tunable.name}={value // 2},{value},{value * 2}" if value > 1 else f"{tunable.name}=2,4,8"


def _recorded(
    request: Request, grid: Sequence[Variant], console: Console, engine_factory: EngineFactory
) -> list[Trial]:
    paths = find_paths(console.environment)
    with (
        recording_of(request, console) as recording,
        artefact_folder(paths, is_kept=request.is_kept, warn=console.warn) as artefacts,
    ):
        engine = engine_factory(
            device=request.device.platform,
            artefacts=artefacts,
            environment=console.environment,
            warm_target=request.target,
        )
        return asyncio.run(_try_all(request, grid, console, engine=engine, recording=recording))


async def _try_all(
    request: Request,
    grid: Sequence[Variant],
    console: Console,
    *,
    engine: StartedEngine,
    recording: Recording | None,
) -> list[Trial]:
    """Run the variants one after another on one engine, with a line of output for each."""
    trials = []
    async with engine:
        driver = RunDriver(engine, recording=recording, on_trouble=console.warn)
        for number, variant in enumerate(grid, start=1):
            run = await _tried(driver, request, variant)
            trials.append(Trial(variant=variant, run=run))
            text = f"{number}/{len(grid)} {variant.name}: {run.final.outcome}, {run.final.sentence}"
            (console.warn if request.document else console.say)(printable(text))
    return trials


async def _tried(driver: RunDriver, request: Request, variant: Variant) -> RunRecord:
    """The run of one variant; machine code is left out, since nothing here shows it."""
    run = replace(
        request.run,
        content=variant.source,
        tag=VARIANT_TAG,
        note=variant.name,
        priority=Priority.BATCH,
        stops_at_verdict=True,
        chooses_seed=False,  # inputs are reused by the next variant
    )
    record = replace(NO_RUN, file=request.file.shown)
    async with contextlib.aclosing(driver.run(run)) as updates:
        async for update in updates:
            if isinstance(update, RunHeader):
                record = replace(record, number=update.number)
            else:
                record = reduce_all(record, update)
    return record


def _propose(request: Request, winner: Trial, console: Console) -> None:
    """Show the change to the user's file, and write it if the user confirms."""
    name, path = request.file.shown, request.file.path
    before, after = (
        content.decode("utf-8", errors="replace").splitlines(keepends=True)
        for content in (request.file.content, winner.variant.source)
    )
    patch = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    console.say(f"{winner.variant.name} was measured to be the fastest:\n")
    console.say("\n".join(printable(line.rstrip("\r\n")) for line in patch))
    if not console.has_terminal:
        console.say("nothing was written: confirmation needs a terminal")
        return
    if console.ask(f"write this into {printable(name)}? [y/N]").strip().lower() not in ("y", "yes"):
        console.say("nothing was written")
    elif disk.read(path) != request.file.content:
        raise UsageError(f"{printable(name)} has changed since it was read, so nothing was written; tune it again")
    else:
        disk.write(path, winner.variant.source)
        console.say(f"{printable(name)} was written")
