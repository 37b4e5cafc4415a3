"""`kgtui` and `kgtui open`: starts the workbench.

Arguments are checked before the terminal is changed; `kgtui.composition` builds the application.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.app.notifications import preserved_title
from kgtui.app.shutdown import show
from kgtui.app.start import PreparedBatch, Settings, Start
from kgtui.cli.argument_groups import add_device, add_former, add_problems
from kgtui.cli.choices import SAMPLE, SAMPLE_OPERATOR, problem_for, read_kernel
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import kernels_of, load_quietly, place_of
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.files.kernel_folder import kernel_path, shown_from
from kgtui.files.new_file import create
from kgtui.settings.paths import absolute, find_paths
from problems.index import ProblemIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.devices import Device
    from kgtui.screens.base.host import Diagnose
    from kgtui.settings.preferences import Preferences

SUMMARY = "Open the workbench, on a kernel file or on the list of operators."
GROUP = Group.KERNELS
STARTS_ENGINE = True


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui open`."""
    parser.usage = f"{parser.prog} [FILE] [--op OP] [options]"
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file (default: kernels/ENTRY.py of OP)")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument(
        "--sample", action="store_true", help="open kernels/softmax.py, created from the sample if missing"
    )
    add_device(parser)
    add_problems(parser)
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal, to select text with it"
    )
    add_former(parser, lambda options, words: _new_form(options.file, words[0]))


def run(options: argparse.Namespace, console: Console) -> int:
    """Show the workbench until the user leaves it.

    Raises:
        KgtuiError: there is no terminal, or an argument names something that does not exist.
    """
    if not console.has_terminal:
        raise UsageError("the workbench needs a terminal; `kgtui check FILE --op OP` verifies a file without one")
    if console.environment.get("TERM") == "dumb":
        raise UsageError(
            "the workbench needs a full-screen terminal, which TERM=dumb does not provide; "
            "`kgtui check FILE --op OP` verifies a file line by line"
        )
    preferences = load_quietly(options, console)
    kernels = kernels_of(preferences, console.folder)
    index = problem_index(options, console)
    opened = opened_file(options, console, kernels=kernels, index=index)
    directives = read_kernel(opened.path, shown=str(opened.path)) if opened else None
    device, target = place_of(preferences, options, file=directives)
    settings = Settings(
        folder=console.folder, kernels=kernels, device=device.platform, target=target,
        environment=console.environment, preferences=preferences,
        data=find_paths(console.environment).data,
    )  # fmt: skip
    return show_workbench(settings, console, device=device, problems=index, start=opened, mouse=options.mouse)


def show_workbench(
    settings: Settings,
    console: Console,
    *,
    device: Device,
    problems: ProblemIndex,
    start: Start | None = None,
    batch: PreparedBatch | None = None,
    mouse: bool = True,
) -> int:
    """Draw the workbench on the terminal until the user leaves it; the exit code."""
    paths = find_paths(settings.environment)
    from kgtui.app.arenas import use_one_arena
    from kgtui.composition import compose, paused_collector

    use_one_arena()  # before threads are started
    with (
        artefact_folder(paths, is_kept=True, warn=console.warn) as artefacts,
        preserved_title(console.err),
        paused_collector(),
    ):
        # Textual is imported here, after the command line was validated.
        app = compose(
            settings=settings, start=start, device=device, paths=paths, artefacts=artefacts,
            diagnose=_diagnoser(console), problems=problems, batch=batch,
        )  # fmt: skip
        return show(app, mouse=mouse, paths=paths, warn=console.warn)


def opened_file(options: argparse.Namespace, console: Console, *, kernels: Path, index: ProblemIndex) -> Start | None:
    """The given file, or the operator's default file in `kernels`; None for the list of operators.

    Raises:
        UsageError: it does not exist, or its operator is unknown.
    """
    op, name = options.op, options.file
    if options.sample:
        return _sample(op, name, console.folder, kernels=kernels, index=index)
    if name is not None:
        path = absolute(name, console.folder)
        if op is None and not os.path.lexists(path) and _is_operator(name, index):
            raise UsageError(f"there is no file {name}; `kgtui open --op {name}` opens the kernel file of the operator")
        return Start(problem=problem_for(read_kernel(path, shown=name), op, index), path=path)
    if op is None:
        return None
    problem = index.find(op)
    path = kernel_path(problem, kernels)
    if not path.exists():
        raise UsageError(
            f"there is no {shown_from(path, console.folder)}; `kgtui new {problem.name}` creates it, "
            f"or name the file: `kgtui open FILE --op {problem.name}`"
        )
    return Start(problem=problem, path=path)


def _new_form(operator: str, file: str) -> str:
    return f"OP is an option: `kgtui open {shlex.quote(file)} --op {shlex.quote(operator)}`"


def _is_operator(name: str, index: ProblemIndex) -> bool:
    try:
        index.resolve(name)
    except UsageError:
        return False
    return True


def _sample(op: str | None, name: str | None, folder: Path, *, kernels: Path, index: ProblemIndex) -> Start:
    """The user's copy of the sample, created if missing."""
    problem = index.find(op or SAMPLE_OPERATOR)
    if problem.name != SAMPLE_OPERATOR:
        raise UsageError(f"there is no sample for {problem.name}, only for {SAMPLE_OPERATOR}; omit --sample")
    path = absolute(name, folder) if name else kernel_path(problem, kernels)
    if not path.exists():
        shown = shown_from(path, folder)
        create(path, SAMPLE.read_bytes(), shown=shown, otherwise="start in another folder")
    return Start(problem=problem, path=path)


def _diagnoser(console: Console) -> Diagnose:
    """Returns the function that diagnoses this machine for the Doctor screen."""

    async def look_around(size: tuple[int, int], settings: Preferences) -> AsyncIterator[tuple[str, ...]]:
        from kgtui.cli.child_processes import own_processes
        from kgtui.cli.doctor.diagnosis import diagnose
        from kgtui.cli.doctor.diagnosis_text import diagnosis_lines
        from kgtui.cli.doctor.terminal import terminal_of

        terminal = terminal_of(console.environment, encoding=console.out.encoding, size=size)
        async for found in diagnose(
            environment=console.environment, folder=console.folder, terminal=terminal, preferences=settings,
            own_pids=await asyncio.to_thread(own_processes),
        ):  # fmt: skip
            yield tuple(diagnosis_lines(found))

    return look_around
