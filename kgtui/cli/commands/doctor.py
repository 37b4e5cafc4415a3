"""`kgtui doctor`: hardware and versions of this machine, users of its devices, and the sandboxing in force."""

from __future__ import annotations

import argparse
import asyncio
import shutil

import msgspec

from kgtui.cli.argument_groups import add_json
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.doctor.diagnosis import diagnose
from kgtui.cli.doctor.diagnosis_text import confinement_lines, machine_lines, settings_lines
from kgtui.cli.doctor.terminal import Terminal, terminal_of
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import load_quietly

SUMMARY = "Show hardware, versions and sandboxing."
GROUP = Group.SETUP
STARTS_ENGINE = True

JSON_SCHEMA = "kgtui.doctor/1"


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui doctor`."""
    parser.usage = f"{parser.prog} [--json]"
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the diagnosis; ENGINE when no engine could be started."""
    return asyncio.run(_print(options, console))


async def _print(options: argparse.Namespace, console: Console) -> int:
    trouble = None
    async for diagnosis in diagnose(
        environment=console.environment,
        folder=console.folder,
        terminal=_terminal(console),
        preferences=load_quietly(options, console),
    ):
        trouble = diagnosis.trouble
        is_whole = trouble is not None or diagnosis.confinement is not None
        if options.json and is_whole:
            encoded = msgspec.json.encode({"schema": JSON_SCHEMA, **msgspec.to_builtins(diagnosis)})
            console.write_document(msgspec.json.format(encoded, indent=2).decode())
        elif not options.json:
            rest = (*confinement_lines(diagnosis), *settings_lines(diagnosis)) if is_whole else machine_lines(diagnosis)
            console.say("\n".join(rest))
    return Exit.PASSED if trouble is None else Exit.ENGINE


def _terminal(console: Console) -> Terminal:
    size = shutil.get_terminal_size() if console.has_terminal else None
    return terminal_of(
        console.environment, encoding=console.out.encoding, size=(size.columns, size.lines) if size else None
    )
