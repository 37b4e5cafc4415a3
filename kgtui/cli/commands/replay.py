"""`kgtui replay`: verify a proof file again on this machine, without the candidate's source."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from engine.artefacts import ArtefactStore
from engine.errors import UsageError
from engine.model import Problem
from engine.model.proof import ReplayedCase
from engine.protocol.proof.proof_file import MOST_FILE_BYTES, ProofFile, read_proof
from engine.reports.printable import printable
from engine.reports.proof_replay import replay_json, replay_lines
from engine.sandbox.user_files import UserFileError, read_user_file
from kgtui.cli.argument_groups import add_json, add_problems
from kgtui.cli.choices import device_for
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.runner.run_environment import VERDICT_PACKAGES, versions
from kgtui.settings.paths import absolute

SUMMARY = "Verify a proof file again on this machine, without the kernel's source."
GROUP = Group.HISTORY
STARTS_ENGINE = True
CPU = "cpu"

Replaying: TypeAlias = Callable[[ProofFile, Problem, Console], AsyncGenerator[ReplayedCase, None]]


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui replay`."""
    parser.usage = f"{parser.prog} FILE [--device DEVICE] [--problems DIR] [--json]"
    parser.add_argument("file", metavar="FILE", help="a proof file; `kgtui export-proof` writes one")
    parser.add_argument(
        "--device", metavar="DEVICE", default=CPU, help="cpu, or cuda to launch the kernels on a GPU (default: cpu)"
    )
    add_problems(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console, *, replaying: Replaying | None = None) -> int:
    """Replay every case and report what the file proves.

    Raises:
        UsageError: there is no such file, it is not a proof or was changed, or its operator is unknown.
        UnsupportedError: the device does not exist, or launches cannot be replayed on it.
    """
    proof = read_proof(_content(absolute(options.file, console.folder), shown=options.file))
    problem = _problem(proof, options, console)
    device = device_for(options.device).platform
    cases = asyncio.run(_collected((replaying or partial(replay_here, device=device))(proof, problem, console)))
    here = {name: version for name, version in versions(VERDICT_PACKAGES).items() if version is not None}
    if options.json:
        console.write_document(replay_json(proof, cases, versions=here))
    else:
        for line in replay_lines(proof, cases, versions=here):
            console.say(line)
    return Exit.PASSED if cases and all(case.proof.proven for case in cases) else Exit.FAILED


async def replay_here(
    proof: ProofFile, problem: Problem, console: Console, *, device: str = CPU
) -> AsyncGenerator[ReplayedCase, None]:
    """Results of the cases, replayed by an engine of this machine."""
    from engine.engine import Engine  # imported late: an invalid file needs no engine

    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        artefacts = ArtefactStore(folder=Path(folder))
        async with (
            Engine(device=device, artefacts=artefacts, environment=console.environment) as engine,
            contextlib.aclosing(engine.replay(proof, problem)) as cases,
        ):
            async for case in cases:
                yield case


async def _collected(cases: AsyncGenerator[ReplayedCase, None]) -> Sequence[ReplayedCase]:
    async with contextlib.aclosing(cases):
        return [case async for case in cases]


def _content(path: Path, *, shown: str) -> bytes:
    """The bytes of the file."""
    try:
        return read_user_file(path, max_bytes=MOST_FILE_BYTES)
    except UserFileError as error:
        said = f"{printable(shown)} cannot be read: {error}"
        raise UsageError(f"{said}; `kgtui export-proof RUN FILE` writes a proof file") from error


def _problem(proof: ProofFile, options: argparse.Namespace, console: Console) -> Problem:
    """The installed operator that the proof refers to."""
    index = problem_index(options, console)
    name = proof.run.problem
    if name not in index.names:
        raise UsageError(f"the proof is of {name!r}, which is not known here; name --problems DIR or --suite PATH")
    problem = index.find(name)
    if problem.version != proof.run.problem_version:
        raise UsageError(f"the proof is of another version of {name}: its file has changed since")
    known = {case.name for case in problem.cases}
    missing = next((case.case for case in proof.cases if case.case not in known), None)
    if missing is not None:
        made = proof.run.versions.get("kgtui", "unknown")
        raise UsageError(f"{name} has no case {missing!r} here; install kgtui {made}, which made the proof")
    return problem
