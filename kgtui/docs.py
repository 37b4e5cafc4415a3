"""The parts of the README that the program knows better: its keys, its commands, its operators, its policies.

    python -m kgtui.docs           writes them anew between their markers
    python -m kgtui.docs --check   exits with 1 when one is stale, and changes nothing

What stands outside of the markers is never touched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.errors import UsageError

README = Path(__file__).parent.parent / "README.md"


def main(arguments: Sequence[str] | None = None, *, readme: Path = README) -> int:
    """Write or check the blocks; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kgtui.docs", description="Keep the README's generated parts true.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 when a part is stale")
    options = parser.parse_args(arguments)
    before = readme.read_text()
    after = updated(before)
    if before == after:
        return 0
    if options.check:
        sys.stderr.write(f"{readme.name} is stale; `python -m kgtui.docs` writes its generated parts anew\n")
        return 1
    readme.write_text(after)
    return 0


def updated(text: str) -> str:
    """The text with every block made anew.

    Raises:
        UsageError: a block has no place in it, or two.
    """
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise UsageError(f"expected one block from {begin} to {end}; add the missing marker or remove the second")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{make().strip()}\n\n{end}{after}"
    return text


def key_table() -> str:
    """Every key of the screen."""
    from kgtui.settings.keys import key_table_markdown

    return key_table_markdown()


def command_help() -> str:
    """The help of the program and of each command, as they print it."""
    from kgtui.cli.arguments import build_parser, command_parsers

    parsers = [build_parser(), *command_parsers()]
    return "\n\n".join(f"```text\n$ {parser.prog} --help\n{parser.format_help().strip()}\n```" for parser in parsers)


def operator_table() -> str:
    """Every operator of the catalogue."""
    import problems
    from kgtui.cli.commands.problems import markdown_table

    return markdown_table(problems.catalogue())


def policies() -> str:
    """What each policy does with what is found."""
    from engine.verdict.policy import policy_table

    return policy_table()


BLOCKS: dict[str, Callable[[], str]] = {
    "keys": key_table, "commands": command_help, "operators": operator_table, "policies": policies,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
