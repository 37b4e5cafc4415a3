"""The generated parts of the manual: keys, commands, operators, policies, settings, operations, tools.

    python -m kgtui.docs           writes them between their markers
    python -m kgtui.docs --check   exits with 1 when one is out of date, and changes nothing
Text outside the markers is never changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from kgtui import manual


@dataclass(frozen=True, kw_only=True)
class Block:
    """A generated part: the topic of its page, the name in its markers, and the function that makes its text."""

    topic: str
    name: str
    make: Callable[[], str]


def main(arguments: Sequence[str] | None = None, *, folder: Path = manual.FOLDER) -> int:
    """Write or check the blocks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kgtui.docs", description="Update the manual's generated parts.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 when a part is out of date")
    options = parser.parse_args(arguments)
    stale = []
    for topic in dict.fromkeys(block.topic for block in BLOCKS):
        path = folder / f"{topic}.md"
        before = path.read_text(encoding="utf-8")
        after = updated(before, topic=topic)
        if before != after:
            stale.append(path.name)
            if not options.check:
                path.write_text(after, encoding="utf-8")
    if stale and options.check:
        sys.stderr.write(f"out of date: {', '.join(stale)}; `python -m kgtui.docs` updates the generated parts\n")
        return 1
    return 0


def updated(text: str, *, topic: str) -> str:
    """The text of a page with every block of its topic generated again.

    Raises:
        UsageError: the page does not have exactly one place for a block.
    """
    for block in BLOCKS:
        if block.topic != topic:
            continue
        begin, end = f"<!-- begin {block.name} -->", f"<!-- end {block.name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise UsageError(
                f"{topic}.md: expected one block from {begin} to {end}; add the missing marker or remove the second"
            )
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{block.make().strip()}\n\n{end}{after}"
    return text


def key_table() -> str:
    """Table of every key of the workbench."""
    from kgtui.settings.keys import key_table_markdown

    return key_table_markdown()


def command_help() -> str:
    """The help of the program and of each command, as they print it."""
    from kgtui.cli.command_line import command_parsers, program_parser

    parsers = [program_parser(), *command_parsers()]
    return "\n\n".join(f"```text\n$ {parser.prog} --help\n{parser.format_help().strip()}\n```" for parser in parsers)


def operator_table() -> str:
    """Table of the operators of the catalogue."""
    from kgtui.cli.operators.listing import markdown_table
    from problems.index import open_index

    return markdown_table(open_index().descriptions()[0])


def policies() -> str:
    """Table of the effect of each policy on findings."""
    from engine.verdict.policy import policy_table

    return policy_table()


def settings_table() -> str:
    """Table of the settings."""
    from kgtui.settings.schema import option_table_markdown

    return option_table_markdown()


def machine_table() -> str:
    """Table of the operations that the TTIR machine executes."""
    from engine.machine.operations import operations_markdown

    return operations_markdown()


def agent_tools() -> str:
    """Table of the tools of the server for agents."""
    from kgtui.generation.agents.tools import tools_markdown

    return tools_markdown()


BLOCKS = (
    Block(topic="keys", name="keys", make=key_table),
    Block(topic="commands", name="commands", make=command_help),
    Block(topic="operators", name="operators", make=operator_table),
    Block(topic="inspecting", name="policies", make=policies),
    Block(topic="settings", name="settings", make=settings_table),
    Block(topic="machine", name="machine", make=machine_table),
    Block(topic="agents", name="agent-tools", make=agent_tools),
)


if __name__ == "__main__":
    sys.exit(main())
