"""`kgtui schema`: the JSON schema of a document that kgtui writes."""

from __future__ import annotations

import argparse
import json

from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.schemas import schema_names, schema_text

SUMMARY = "List the JSON documents that kgtui writes, or print the schema of one."
GROUP = Group.REFERENCE


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui schema`."""
    parser.usage = f"{parser.prog} [NAME]"
    parser.add_argument("name", metavar="NAME", nargs="?", help="the schema to print (default: list the names)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the names, or a schema.

    Raises:
        UsageError: there is no schema of that name.
    """
    if options.name is not None:
        console.write_document(schema_text(options.name).removesuffix("\n"))
        return Exit.PASSED
    names = schema_names()
    width = max(map(len, names))
    for name in names:
        console.say(f"{name:<{width}}  {json.loads(schema_text(name))['description']}")
    return Exit.PASSED
