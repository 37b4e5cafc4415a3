"""The command line: parses the arguments and runs the command.

Only the requested command's module is imported.  Every error ends here as one or two sentences, never as a traceback.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import CandidateError, KgtuiError, UnsupportedError, UsageError
from engine.sandbox.inherited import reset_inherited_state
from engine.sandbox.user_files import reason_of
from kgtui.cli.command_line import parse
from kgtui.cli.console import Console, Exit

_LEAST_DESCRIPTORS = 128
_OF_A_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    reset_inherited_state()
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an ASCII locale must not end a run
    console = Console(out=sys.stdout, err=sys.stderr, stdin=sys.stdin, environment=os.environ, folder=Path("/"))
    try:
        console = replace(console, folder=Path.cwd())
    except OSError as error:
        _complain(console, f"the working folder cannot be used: {reason_of(error)}; change to another one")
        return Exit.USAGE
    return run(sys.argv[1:] if arguments is None else arguments, console)


def run(arguments: Sequence[str], console: Console) -> int:
    """As `main`, with the given console."""
    wants_trace = "--debug" in arguments
    if "--ascii" in arguments:  # argument errors are printed in ASCII, too
        console = replace(console, is_ascii=True)
    try:
        exit_code = _dispatch(arguments, console)
        console.out.flush()
        return exit_code
    except KgtuiError as error:
        _complain(console, str(error), wants_trace=wants_trace)
        return _exit_of_error(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _discard_output(console)
        return Exit.BROKEN_PIPE
    except OSError as error:
        _discard_output(console)
        where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
        hint = "; is a disk full or read-only?" if error.errno in _OF_A_DISK else ""
        _complain(console, f"{reason_of(error)}{where}{hint}", wants_trace=wants_trace)
        return Exit.ENGINE
    except Exception as error:  # outermost handler: an internal error is one line, with --debug a traceback
        if isinstance(error, UnicodeEncodeError) and any(map(_is_undecodable, arguments)):
            _complain(console, f"{error.object[:80]!r} is not UTF-8 text; type it in UTF-8", wants_trace=wants_trace)
            return Exit.USAGE
        lines = str(error).splitlines() or [""]
        hint = "" if wants_trace else "; --debug shows the traceback"
        _complain(console, f"failed: {type(error).__name__}: {lines[0]}{hint}", wants_trace=wants_trace)
        return Exit.ENGINE


def _open_what_is_closed() -> None:
    """Redirect closed standard streams to the null device, or the next opened file would take their descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # open until the end


def _is_undecodable(argument: str) -> bool:
    """Whether an argument is not text in the locale's encoding."""
    return any("\ud800" <= char <= "\udfff" for char in argument)


def _dispatch(arguments: Sequence[str], console: Console) -> int:
    """Run the requested command; without one, `open`."""
    typed = parse(arguments, folder=console.folder)
    from kgtui.cli.resolved_settings import in_signs

    if typed.starts_engine:
        _require_descriptors()
    return typed.run(typed.options, in_signs(typed.options, console))


def _require_descriptors() -> None:
    """Raise the limit of open files for the engine's pipes; otherwise a system error would look like a kernel failure.

    Raises:
        UnsupportedError: the limit is too low; the message says how to raise it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _LEAST_DESCRIPTORS:
        if hard != resource.RLIM_INFINITY and hard < _LEAST_DESCRIPTORS:
            words = f"only {hard} files may be open at once, and the engine needs {_LEAST_DESCRIPTORS}"
            raise UnsupportedError(f"{words}; raise the limit with `ulimit -n 1024`")
        resource.setrlimit(resource.RLIMIT_NOFILE, (_LEAST_DESCRIPTORS, hard))


def _exit_of_error(error: KgtuiError) -> Exit:
    match error:
        case UsageError():
            return Exit.USAGE
        case CandidateError():
            return Exit.FAILED
        case _:
            return Exit.ENGINE


def _complain(console: Console, message: str, *, wants_trace: bool = False) -> None:
    """Print the error, if there is an output; the exit code is the same without it."""
    with contextlib.suppress(OSError):
        if wants_trace:
            import traceback  # only with --debug

            console.trace(traceback.format_exc())
        console.warn(message)


def _discard_output(console: Console) -> None:
    """Discard the buffered output, whose reader has exited, so that it does not fail again when Python exits."""
    if console.out is sys.stdout:
        with contextlib.suppress(OSError):  # no descriptor is available
            os.dup2(os.open(os.devnull, os.O_WRONLY), console.out.fileno())
