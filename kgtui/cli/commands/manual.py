"""`kgtui manual`: the list of topics, or one page.  Imports neither torch nor Textual."""

from __future__ import annotations

import argparse
import textwrap

from kgtui import manual
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group

SUMMARY = "List the pages of the manual, or print one."
GROUP = Group.REFERENCE

_LEAST_TITLE = 16  # columns, in the narrowest terminal


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui manual`."""
    parser.usage = f"{parser.prog} [TOPIC]"
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="the page to print (default: list the topics)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the topics, or the page of one.

    Raises:
        UsageError: there is no page of that topic.
    """
    if options.topic is not None:
        console.show_markdown(manual.page(options.topic))
        return Exit.PASSED
    titles = manual.topics()
    width = max(map(len, titles))
    room = max(_LEAST_TITLE, console.width - width - 2)
    for topic, title in titles.items():
        # A line for each page in a pipe; in a terminal a long title goes on under its start.
        pieces = textwrap.wrap(title, room) if console.out.isatty() else [title]
        console.say(f"{topic:<{width}}  " + f"\n{'':{width}}  ".join(pieces))
    console.say("\n`kgtui manual TOPIC` prints a page.")
    return Exit.PASSED
