"""The main loop of the child that runs compute-sanitizer over one call of a candidate.

It runs no code of the candidate itself; the program that it starts does, below the sanitizer and as the same user. The
sanitizer and that program communicate over TCP and over sockets with a path, which they open with the device's driver.
So their network namespace has nothing but its own loopback, and the program gives up its remaining rights after that
and before it loads the candidate (`engine.worker.one_call`).  If either is impossible nothing is started.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engine import protocol
from engine.protocol.transport.service import MessagePipes
from engine.sandbox.confinement import Measure
from engine.worker.one_call import LIMITS_READING

_PROGRAM = "engine.worker.one_call"
_NEEDED = (Measure.NO_NEW_PRIVILEGES, Measure.NETWORK)
_MOST_REPORTED = 100  # errors reported for each tool
_TROUBLE_CHARACTERS = 2000
_UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}  # one allocation for each tensor, to detect overruns


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Report that the process is ready, then carry out sanitize commands."""
    pipes = MessagePipes(commands, replies)
    pipes.reply(protocol.Ready(id="ready", confinement=in_force, versions={}))
    pipes.serve(lambda command: _carried_out(command, in_force))


def _carried_out(command: protocol.AnyCommand, in_force: tuple[str, ...]) -> protocol.AnyReply:
    missing = [measure for measure in _NEEDED if measure not in in_force]
    if not isinstance(command, protocol.Sanitize):
        message = f"a sanitizer does not carry out {type(command).__name__}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)
    if missing:
        message = f"the confinement that it needs is not in force here: {missing[0]}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
    try:
        return sanitized(command, limits_reading=Measure.READING in in_force)
    except OSError as error:
        message = f"{command.sanitizer} could not be started: {error.strerror}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)


def sanitized(command: protocol.Sanitize, *, limits_reading: bool) -> protocol.Sanitized:
    """Reports of each tool on one call.

    Raises:
        OSError: the sanitizer cannot be started.
    """
    request = Path("request.json").resolve()
    request.write_bytes(protocol.encode(command))
    return protocol.Sanitized(
        id=command.id, runs=tuple(_run(command, tool, request, limits_reading=limits_reading) for tool in command.tools)
    )


def _run(command: protocol.Sanitize, tool: str, request: Path, *, limits_reading: bool) -> protocol.SanitizedRun:
    log = request.with_name(f"{tool}.log")
    target = [sys.executable, "-I", "-m", _PROGRAM, str(request), *([LIMITS_READING] if limits_reading else [])]
    options = ["--tool", tool, "--log-file", str(log), "--print-limit", str(_MOST_REPORTED)]
    with request.with_name(f"{tool}.out").open("wb+") as output:
        ended = subprocess.run(
            [command.sanitizer, *options, *target],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_UNCACHED},
            check=False,
        )
        output.seek(0)
        said = _last(output.fileno(), _TROUBLE_CHARACTERS) if ended.returncode else ""
    content = _begin(log, command.most_bytes)
    return protocol.SanitizedRun(
        tool=tool,
        report=content.decode("utf-8", "replace"),
        left_out_bytes=max(0, _size(log) - len(content)),
        status=ended.returncode,
        trouble=said,
    )


def _begin(log: Path, most_bytes: int) -> bytes:
    """The first bytes of a report; empty if it does not exist."""
    try:
        with log.open("rb") as file:
            return file.read(most_bytes)
    except OSError:
        return b""


def _size(log: Path) -> int:
    return log.stat().st_size if log.is_file() else 0


def _last(handle: int, most_bytes: int) -> str:
    """The end of a program's output."""
    size = os.fstat(handle).st_size
    return os.pread(handle, most_bytes, max(0, size - most_bytes)).decode("utf-8", "replace")
