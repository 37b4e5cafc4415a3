"""The command line: reads what was typed, and has the command of that name carry it out.

A command's module is imported when the command was typed.  Every error ends here as one or two sentences,
never as a traceback.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import CandidateError, KgtuiError, UsageError
from kgtui.arguments import build_parser
from kgtui.commands.console import Console, Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out what was typed; the exit code."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an ASCII locale must not end a run
    console = Console(out=sys.stdout, err=sys.stderr, stdin=sys.stdin, environment=os.environ, folder=Path.cwd())
    return run(sys.argv[1:] if arguments is None else arguments, console)


def run(arguments: Sequence[str], console: Console) -> int:
    """As `main`, for the given console."""
    wants_trace = "--debug" in arguments
    if "--ascii" in arguments:  # what is wrong with the arguments is said in ASCII, too
        console = replace(console, is_ascii=True)
    try:
        exit_code = _dispatch(_parsed(arguments), console)
        console.out.flush()
        return exit_code
    except KgtuiError as error:
        _complain(console, str(error), wants_trace=wants_trace)
        return _exit_of_error(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _abandon(console)
        return Exit.BROKEN_PIPE
    except OSError as error:
        _abandon(console)
        where = f" ({error.filename})" if error.filename else ""
        _complain(console, f"{error.strerror or error}{where}; is a disk full or read-only?", wants_trace=wants_trace)
        return Exit.ENGINE
    except Exception as error:  # the edge: a fault of ours is one line, and a traceback for those who ask
        lines = str(error).splitlines() or [""]
        hint = "" if wants_trace else "; --debug shows the traceback"
        _complain(console, f"failed: {type(error).__name__}: {lines[0]}{hint}", wants_trace=wants_trace)
        return Exit.ENGINE


def _open_what_is_closed() -> None:
    """Streams that the caller closed lead nowhere; else the next file that is opened would be written to as one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open until the end


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """What was typed.  Not by parse_args: it blames a word that a command does not know on kgtui as a whole."""
    options, unknown = build_parser().parse_known_args(arguments)
    if unknown:
        command = f"kgtui {options.command}" if options.command else "kgtui"
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}; `{command} --help` shows what can be typed")
    return options


def _dispatch(options: argparse.Namespace, console: Console) -> int:
    """Carry out the command by the module of its name; without a command, `open`."""
    name = (options.command or "open").replace("-", "_")
    from kgtui.commands.settled import in_signs

    exit_code: int = importlib.import_module(f"kgtui.commands.{name}").run(options, in_signs(options, console))
    return exit_code


def _exit_of_error(error: KgtuiError) -> Exit:
    match error:
        case UsageError():
            return Exit.USAGE
        case CandidateError():
            return Exit.FAILED
        case _:
            return Exit.ENGINE


def _complain(console: Console, message: str, *, wants_trace: bool) -> None:
    if wants_trace:
        traceback.print_exc(file=console.err)
    console.warn(message)


def _abandon(console: Console) -> None:
    """Nobody reads the output any more: what is left in its buffer must not fail again when Python ends."""
    if console.out is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), console.out.fileno())
