"""One task in a separate process: bytes in, bytes out, within limits of CPU time and memory.

For work that holds the interpreter lock throughout, which would freeze the interface in whatever thread it ran. The
child sets its limits itself, runs our code only, and is killed when the parent stops waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import sys

from engine.errors import ChildDiedError, DeadlineError
from engine.sandbox import linux

_WALL_S = 300.0
"""Wall-time limit for a process that gets no CPU time or is stopped."""


async def ask_apart(module: str, request: bytes, *, cpu_s: int, memory_bytes: int, max_reply_bytes: int) -> bytes:
    """Output of `python -m module` for `request`.

    Raises:
        DeadlineError: it took more than `cpu_s` seconds of CPU time.
        ChildDiedError: it exited otherwise, or wrote too much.
        OSError: it could not be started.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        module,
        f"{cpu_s}",
        f"{memory_bytes}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        limit=max_reply_bytes,
    )
    try:
        async with asyncio.timeout(_WALL_S):
            reply = await _exchanged(process, request, max_reply_bytes)
            status = await process.wait()
    except TimeoutError as error:
        raise DeadlineError(f"no answer within {_WALL_S:g} s") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and not reply:
        raise DeadlineError(f"it took more than {cpu_s} s of CPU time")
    if status != 0:
        raise ChildDiedError(f"the process that read it ended ({status})")
    return reply


def limit_this_process(arguments: list[str]) -> None:
    """In the child: apply the limits that `ask_apart` passed on the command line, and exit with the parent."""
    cpu_s, memory_bytes = (int(argument) for argument in arguments)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


async def _exchanged(process: asyncio.subprocess.Process, request: bytes, max_reply_bytes: int) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it ended; its status says why
        await process.stdin.drain()
    process.stdin.close()
    reply = bytearray()
    while chunk := await process.stdout.read(1 << 16):
        reply += chunk
        if len(reply) > max_reply_bytes:
            raise ChildDiedError(f"the process that read it answered with more than {max_reply_bytes:,} bytes")
    return bytes(reply)
