"""An external coding agent as a provider: `agent:NAME` runs its command line in a private folder.

The folder has the task in TASK.md; the answer is the agent's output, then the file `kernel.py` that it leaves there.
It can write only in that folder, and is terminated with its whole process group on timeout.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from io import FileIO
from pathlib import Path

from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from kgtui.files.watching.reading import parses
from kgtui.generation.agents.described import FOLDER, TASK_PLACE, AgentDescription, read_agent
from kgtui.generation.agents.launcher import NOT_CONFINED, NOT_FOUND
from kgtui.generation.agents.output import AgentOutput
from kgtui.generation.prompts import prompt_text
from kgtui.generation.providers.kit import shortened
from kgtui.generation.records import (
    AnswerEnded,
    Chunk,
    CompletionRequest,
    FileSaved,
    ModelName,
    ProviderError,
    TextArrived,
)
from kgtui.settings.paths import find_paths
from sessions.candidates.generation_rows import Stop

NAME = "agent"
KEY_VARIABLE = ""
KERNEL, TASK = "kernel.py", "TASK.md"
SENTENCE = f"Carry out the task in {TASK}: write the whole file to {KERNEL} in this folder, and nothing else."

_OTHER_FOLDER = "free some space, or set TMPDIR to another folder"
_PASSED_ON = ("PATH", "LANG")
_MOST_KERNEL_BYTES = 300_000
_CHUNK_BYTES = 8192
_TRIAL_BYTES = 64 << 10
_LOOK_EVERY_S = 0.3
_END_S = 5.0  # for the launcher to end the agent's remaining processes


def open_provider(model: ModelName, environment: Mapping[str, str]) -> AgentProvider:
    """The agent of this name.

    Raises:
        UsageError: no agent of this name is described.
    """
    own = find_paths(environment).config.parent / "agents"
    return AgentProvider(read_agent(model.model, (own, FOLDER)), environment)


class AgentProvider:
    """Runs one described agent; each request is a separate process."""

    def __init__(self, description: AgentDescription, environment: Mapping[str, str]) -> None:
        self._description = description
        self._environment = environment
        self._secrets = [environment.get(name, "") for name in description.variables]

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """Output of the agent, then its file as a code block."""
        with contextlib.ExitStack() as stack:
            try:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kgtui-agent-")))
                (folder / TASK).write_text(prompt_text(request.messages), encoding="utf-8")
            except OSError as error:
                place = error.filename or tempfile.gettempdir()
                raise ProviderError(
                    f"{request.model} did not start: {place}: {error.strerror or error}; {_OTHER_FOLDER}"
                ) from error
            async with _output_pipe() as (reader, writer):
                process = await self._start(folder, writer)
                output, stop = AgentOutput(self._secrets), Stop.COMPLETE
                try:
                    async with asyncio.timeout(request.sampling.timeout_s):
                        async for chunk in _working(folder, reader, output):
                            yield chunk
                        if output.is_too_long:
                            stop = Stop.LENGTH
                        else:
                            await process.wait()
                except TimeoutError:
                    stop = Stop.CUT
                finally:
                    await _end(process)
            rest = output.rest()
            if process.returncode in (NOT_CONFINED, NOT_FOUND):
                raise ProviderError(f"{request.model} did not start: {shortened(output.text)}")
            yield TextArrived(text=rest + output.without_secrets(_answer(folder, stop)))
            trouble = _disk_trouble(folder)
            reported = self._description
            yield AnswerEnded(
                stop=stop,
                usage=reported.usage(output.text),
                reported_microusd=reported.cost_microusd(output.text),
                failure=f"{request.model} could not write {KERNEL}: {trouble}; {_OTHER_FOLDER}" if trouble else "",
            )

    async def aclose(self) -> None:
        """No operation: nothing is open between requests."""

    async def _start(self, folder: Path, writer: FileIO) -> asyncio.subprocess.Process:
        """The launcher, which writes its output to `writer`; this process closes its own copy of it."""
        passed = {name: self._environment[name] for name in _PASSED_ON if name in self._environment}
        passed |= {name: self._environment[name] for name in self._description.variables if name in self._environment}
        command = [part.replace(TASK_PLACE, SENTENCE) for part in self._description.command]
        with writer:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-m", "kgtui.generation.agents.launcher", str(folder), *command,
                cwd=folder,
                env={**passed, "HOME": str(folder), "TMPDIR": str(folder)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip


async def _working(
    folder: Path, reader: asyncio.StreamReader, output: AgentOutput
) -> AsyncGenerator[TextArrived | FileSaved, None]:
    """Output of the agent until it ends or is too long, and each version of its file, in order."""
    saves = _Saves(folder / KERNEL)
    reading = asyncio.ensure_future(reader.read(_CHUNK_BYTES))
    try:
        while not output.is_too_long:
            done, _ = await asyncio.wait({reading}, timeout=_LOOK_EVERY_S)
            if (source := saves.new()) is not None:
                text = output.without_secrets(source.decode("utf-8", errors="surrogateescape"))
                yield FileSaved(source=text.encode("utf-8", errors="surrogateescape"))
            if not done:
                continue
            if not (data := reading.result()):
                return
            if text := output.take(data):
                yield TextArrived(text=text)
            reading = asyncio.ensure_future(reader.read(_CHUNK_BYTES))
    finally:
        reading.cancel()


class _Saves:
    """Detects new content of a file; content counts once two reads in a row agree."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: bytes | None = None
        self._last_sent: bytes | None = None

    def new(self) -> bytes | None:
        """The content, if it is new and equal to that of the last call."""
        try:
            content = read_untrusted(self._path, max_bytes=_MOST_KERNEL_BYTES)
        except (OSError, UntrustedFileError):
            return None
        is_whole, self._seen = content == self._seen, content
        if not is_whole or content == self._last_sent or not content.strip():
            return None
        self._last_sent = content
        return content


@contextlib.asynccontextmanager
async def _output_pipe() -> AsyncGenerator[tuple[asyncio.StreamReader, FileIO], None]:
    """A pipe for one process: the end that is read here, and the end that the process inherits.

    With `stdout=PIPE`, `Process.wait` also waits until that pipe is closed.  That never happens while reading is paused
    because the output is not consumed, or while a descendant outside the process group keeps the other end open.
    """
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    with FileIO(reading) as source, FileIO(writing, "w") as writer:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
        try:
            yield reader, writer
        finally:
            transport.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Have the launcher kill all processes of the agent, then kill its process group.  Safe if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _answer(folder: Path, stop: Stop) -> str:
    """The file as a code block, after the reason why the agent was ended; without a file, that reason."""
    ended = {Stop.LENGTH: "it printed too much", Stop.CUT: "it timed out"}.get(stop, "")
    try:
        source = read_untrusted(folder / KERNEL, max_bytes=_MOST_KERNEL_BYTES).decode("utf-8", errors="replace")
    except (OSError, UntrustedFileError) as error:
        return f"\n\nThe agent wrote no {KERNEL}{f': {ended}' if ended else ''} ({error}).\n"
    fence = "```"
    while fence in source:
        fence += "`"
    said = f"The agent was stopped: {ended}. This is the file that it wrote.\n\n" if ended else ""
    return f"\n\n{said}{fence}python\n{source.rstrip()}\n{fence}\n"


def _disk_trouble(folder: Path) -> str:
    """Why the agent could not write its file, where the disk is full and there is no whole file; "" otherwise."""
    try:
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(bytes(_TRIAL_BYTES))
    except OSError as error:
        return "" if _is_whole(folder / KERNEL) else f"{folder.parent}: {error.strerror}"
    return ""


def _is_whole(path: Path) -> bool:
    try:
        source = read_untrusted(path, max_bytes=_MOST_KERNEL_BYTES)
    except (OSError, UntrustedFileError):
        return False
    return bool(source.strip()) and parses(path, source)
