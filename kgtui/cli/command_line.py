"""Parses a command line into a command and its options.

Only the requested command is imported; the help of the program reads the source of the others.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from kgtui.cli.command_parser import CommandParser, add_common_options, shortened
from kgtui.cli.console import Console
from kgtui.cli.registry import (
    COMMANDS,
    Command,
    CommandModule,
    command_module,
    commands,
    module_by_name,
    subcommands,
)

PROGRAM = "kgtui"
_DEFAULT = "open"
_HELP = ("-h", "--help")
_DESCRIPTION = """\
A terminal workbench for GPU kernels. Without a command it shows the list of operators;
`kgtui FILE` opens a kernel file."""
_EXIT_CODES = """\
exit codes: 0 passed, 1 the candidate failed, 2 usage or refused file, 3 engine error or
unsupported here, 4 flagged (correct but not credible, or caught cheating), 130 interrupted"""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """A parsed command.  `starts_engine`: it needs child processes."""

    options: argparse.Namespace
    run: Callable[[argparse.Namespace, Console], int]
    starts_engine: bool


def parse(words: Sequence[str], *, folder: Path | None = None, package: str = COMMANDS) -> CommandLine:
    """The parsed command line; `kgtui FILE` is `kgtui open FILE`, for a name like a file's or of one in `folder`.

    Raises:
        UsageError: it is invalid.
        SystemExit: the help or the version was printed.
    """
    known = module_by_name(package)
    before, rest = _split(words)
    program_parser(package).parse_args(before)
    name, arguments = (rest[0], rest[1:]) if rest else (_DEFAULT, [])
    if name not in known:
        if not _is_file(name, folder):
            raise UsageError(_unknown_command(name, known))
        name, arguments = _DEFAULT, rest
    module, prog = known[name], f"{PROGRAM} {name}"
    if hasattr(importlib.import_module(module), "DEFAULT"):
        module, prog, arguments = _subcommand(module, prog, arguments)
    return _read(command_module(module), prog=prog, words=[*before, *arguments])


def program_parser(package: str = COMMANDS) -> CommandParser:
    """Parser of the options before the command; its help lists the commands by group."""
    parser = _ListingParser(
        prog=PROGRAM, usage="kgtui [COMMAND | FILE] ...", text=_DESCRIPTION, table=lambda: _command_table(package)
    )
    parser.epilog = _EXIT_CODES
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    add_common_options(parser)
    return parser


def command_parsers(package: str = COMMANDS) -> tuple[CommandParser, ...]:
    """The parser of every command and subcommand, in the order of the help."""
    return tuple(itertools.chain.from_iterable(_parsers(command) for command in commands(package)))


def _parsers(command: Command) -> Iterable[CommandParser]:
    prog = f"{PROGRAM} {command.name}"
    if not command.has_subcommands:
        yield _parser_of(command_module(command.module), prog=prog)
        return
    yield _group_parser(command.module, prog)
    for sub in subcommands(command.module):
        yield _parser_of(command_module(sub.module), prog=f"{prog} {sub.name}")


def _read(module: CommandModule, *, prog: str, words: Sequence[str]) -> CommandLine:
    # Not by parse_args, which hides a command's own errors behind those of unknown arguments.
    parser = _parser_of(module, prog=prog)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}; `{prog} --help` shows the arguments")
    if parser.former_hint is not None and options.former:
        raise UsageError(parser.former_hint(options, options.former))
    options.command = prog.removeprefix(f"{PROGRAM} ")
    return CommandLine(options=options, run=module.run, starts_engine=getattr(module, "STARTS_ENGINE", False))


def _parser_of(module: CommandModule, *, prog: str) -> CommandParser:
    parser = CommandParser(prog=prog, description=module.SUMMARY)
    module.add_arguments(parser)
    add_common_options(parser)
    return parser


def _subcommand(package: str, prog: str, words: Sequence[str]) -> tuple[str, str, list[str]]:
    """The module of the requested subcommand, its name, and the remaining words."""
    known = module_by_name(package)
    before, rest = _split(words)
    if rest and rest[0] in known:
        return known[rest[0]], f"{prog} {rest[0]}", [*before, *rest[1:]]
    if any(word in _HELP for word in before):
        _group_parser(package, prog).parse_args(_HELP[:1])
    if rest and not before:
        import difflib  # only for a wrong name

        close = difflib.get_close_matches(rest[0], known, n=1)
        advice = getattr(importlib.import_module(package), "HINT", "")
        others = "; ".join(filter(None, (f"use one of {', '.join(known)}", advice)))
        hint = f"did you mean `{prog} {close[0]}`?" if close else others
        raise UsageError(f"no such subcommand of `{prog}`: {shortened(rest[0])}; {hint}")
    default = importlib.import_module(package).DEFAULT
    return known[default], f"{prog} {default}", list(words)


def _group_parser(package: str, prog: str) -> CommandParser:
    """The parser of a command that has subcommands."""
    module = importlib.import_module(package)
    parser = _ListingParser(
        prog=prog,
        usage=f"{prog} [COMMAND] ...",
        text=f"{module.SUMMARY} Without a subcommand it runs `{module.DEFAULT}`.",
        table=lambda: _table("Subcommands", subcommands(package)),
    )
    add_common_options(parser)
    return parser


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options before the first other word, and the rest."""
    before = list(itertools.takewhile(lambda word: word.startswith("-"), words))
    return before, list(words[len(before) :])


def _is_file(word: str, folder: Path | None) -> bool:
    """Whether a word names a file: it contains a folder or ends in .py, or the file exists."""
    if word.endswith(".py") or os.sep in word:
        return True
    try:
        return folder is not None and (folder / word).is_file()
    except (OSError, ValueError):  # no file has such a name
        return False


def _unknown_command(word: str, known: Iterable[str]) -> str:
    if "::" in word:
        return f"no such command: {shortened(word)}; `kgtui open --op {word}` opens the kernel file of an operator"
    import difflib  # only for a wrong name

    close = difflib.get_close_matches(word, known, n=1)
    hint = f"did you mean `{PROGRAM} {close[0]}`?" if close else "`kgtui --help` lists the commands"
    return f"no such command or file: {shortened(word)}; {hint}"


class _ListingParser(CommandParser):
    """A parser whose help lists commands; the list is built when the help is printed."""

    def __init__(self, *, prog: str, usage: str, text: str, table: Callable[[], str]) -> None:
        super().__init__(prog=prog, description=text)
        self.usage = usage
        self._text = text
        self._table = table

    def format_help(self) -> str:
        self.description = f"{self._text}\n\n{self._table()}"
        return super().format_help()


def _command_table(package: str) -> str:
    found = commands(package)
    groups = dict.fromkeys(command.group for command in found)
    width = max(len(command.name) for command in found)
    return "\n\n".join(
        _table(str(group), [one for one in found if one.group is group], width=width) for group in groups
    )


def _table(title: str, rows: Sequence[Command], *, width: int = 0) -> str:
    width = width or max(len(row.name) for row in rows)
    return "\n".join([f"{title}:", *(f"  {row.name:<{width}}  {row.summary}" for row in rows)])


class _Version(argparse.Action):
    """Prints the version; looked up only on use."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        try:
            version = metadata.version(PROGRAM)
        except metadata.PackageNotFoundError:
            version = "(not installed: run from its source tree)"
        sys.stdout.write(f"{PROGRAM} {version}\n")
        parser.exit()
