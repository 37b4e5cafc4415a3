"""The argument parser of one command: raises instead of exiting, and prints help that fits the terminal."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from engine.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

ASCII_HELP = "ASCII signs only; other letters of names are escaped, documents are unchanged"
_HELP_WIDTH = 100
_LEAST_WIDTH = 40
_BREAK_IN_PARAGRAPH = re.compile(r"(?<=\S)\n(?=\S)")
_SHOWN_CHARACTERS = 80


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are `UsageError`; a command may set `usage` and `epilog`.

    `former` receives arguments of an earlier version, and `former_hint` is the message about them.
    """

    _help_width = _HELP_WIDTH
    former_hint: Callable[[argparse.Namespace, Sequence[str]], str] | None = None

    def __init__(self, *, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=self._help_width),
        )
        self.color = False  # Python 3.14 colours the help, from which the manual is generated

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; in a terminal of fewer columns with shorter lines."""
        import shutil  # only for help

        out = sys.stdout if file is None else file
        columns = shutil.get_terminal_size().columns if isinstance(out, io.TextIOBase) and out.isatty() else _HELP_WIDTH
        if columns >= _HELP_WIDTH:
            out.write(self.format_help())
            return
        self._help_width = max(_LEAST_WIDTH, columns)
        text = _BREAK_IN_PARAGRAPH.sub(" ", self.format_help())
        out.write("".join(f"{part}\n" for line in text.splitlines() for part in _wrapped(line, self._help_width)))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Lists choices as they are typed; argparse would show enum members by their repr."""
        if action.choices is None or value in action.choices:
            return
        known = ", ".join(repr(str(choice)) for choice in action.choices)
        raise argparse.ArgumentError(action, f"invalid choice: {shortened(str(value))} (choose from {known})")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError; the exit code is decided in one place."""
        raise UsageError(f"{message}; `{self.prog} --help` shows the arguments")


def _wrapped(line: str, width: int) -> list[str]:
    """The line in lines that fit; those below a row of a table begin in its last column."""
    import textwrap  # only for help

    column = line.rfind("  ") + 2 if line.startswith("  ") else 0
    return textwrap.wrap(line, width, subsequent_indent=" " * column) or [""]


def add_common_options(parser: CommandParser) -> None:
    """`--debug` and `--ascii`, which every command has."""
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--ascii", action="store_true", help=ASCII_HELP)


def shortened(text: str) -> str:
    """An argument in quotes, at most a line long."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...")
