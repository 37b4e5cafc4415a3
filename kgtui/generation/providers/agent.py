"""An external coding agent as a provider: `agent:NAME` runs its command line in a private folder.

The folder has the task in TASK.md; the answer is the file `kernel.py` that the agent leaves there, after all that it
printed.  It is confined to writing in that folder, and ended with its whole process group when its time is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from io import FileIO
from pathlib import Path

from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from kgtui.generation.agents.described import FOLDER, TASK_PLACE, AgentDescription, read_agent
from kgtui.generation.agents.launcher import NOT_CONFINED, NOT_FOUND
from kgtui.generation.prompts import prompt_text
from kgtui.generation.providers.kit import redacted, shortened
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

_PASSED_ON = ("PATH", "LANG")
_MOST_OUTPUT_BYTES = 1_000_000
_MOST_KERNEL_BYTES = 400_000
_CHUNK_BYTES = 8192
_TAG = re.compile(r"<(?=/?(?:think|reasoning))", re.IGNORECASE)
_LOOK_EVERY_S = 0.3
_END_S = 5.0  # for the launcher to end what the agent left


def open_provider(model: ModelName, environment: Mapping[str, str]) -> AgentProvider:
    """The agent of this name.

    Raises:
        UsageError: none is described by this name.
    """
    own = find_paths(environment).config.parent / "agents"
    return AgentProvider(read_agent(model.model, (own, FOLDER)), environment)


class AgentProvider:
    """One description; each request is a separate process."""

    def __init__(self, description: AgentDescription, environment: Mapping[str, str]) -> None:
        self._description = description
        self._environment = environment

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """Output of the agent, then its file as a code block."""
        with tempfile.TemporaryDirectory(prefix="kgtui-agent-") as name:
            folder = Path(name)
            (folder / TASK).write_text(prompt_text(request.messages), encoding="utf-8")
            async with _output_pipe() as (reader, writer):
                process = await self._start(folder, writer)
                output, stop = "", Stop.COMPLETE
                try:
                    async with asyncio.timeout(request.sampling.timeout_s):
                        async for chunk in self._working(folder, reader):
                            if isinstance(chunk, FileSaved):
                                yield chunk
                                continue
                            output += chunk.text
                            if len(output) > _MOST_OUTPUT_BYTES:
                                stop = Stop.LENGTH
                                break
                            yield TextArrived(text=_quoted(chunk.text))
                        if stop is Stop.COMPLETE:
                            await process.wait()
                except TimeoutError:
                    stop = Stop.CUT
                finally:
                    await _end(process)
            if process.returncode in (NOT_CONFINED, NOT_FOUND):
                raise ProviderError(f"{request.model} did not start: {shortened(output)}")
            yield TextArrived(text=_answer(folder, output=output, stop=stop))
            yield AnswerEnded(stop=stop, usage=self._description.usage(output))

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
        self, folder: Path, reader: asyncio.StreamReader
    ) -> AsyncGenerator[TextArrived | FileSaved, None]:
        """Output of the agent without its API keys, and each version of its file, in their order."""
        secrets: Sequence[str] = [self._environment.get(name, "") for name in self._description.variables]
        saves = _Saves(folder / KERNEL)
        reading = asyncio.ensure_future(reader.read(_CHUNK_BYTES))
        try:
            while True:
                done, _ = await asyncio.wait({reading}, timeout=_LOOK_EVERY_S)
                if (source := saves.new()) is not None:
                    yield FileSaved(source=source)
                if not done:
                    continue
                if not (data := reading.result()):
                    return
                text = data.decode("utf-8", errors="replace")
                for secret in secrets:
                    text = redacted(text, secret)
                yield TextArrived(text=text)
                reading = asyncio.ensure_future(reader.read(_CHUNK_BYTES))
        finally:
            reading.cancel()


class _Saves:
    """Notices when a file has another content; one that is still being written has two sizes in a row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: bytes | None = None
        self._last_sent: bytes | None = None

    def new(self) -> bytes | None:
        """The content, where it is another one than was returned before and the same as at the last call."""
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
    because the output is not consumed, or while a descendant outside of the process group has the other end open.
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
    """Have the launcher kill all that the agent started, then kill its process group.  Safe where it has ended."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _quoted(text: str) -> str:
    """Output without code fences and tags of reasoning: only the file that is left behind is the answer."""
    return _TAG.sub("[", text.replace("```", "'''").replace("~~~", "'''"))


def _answer(folder: Path, *, output: str, stop: Stop) -> str:
    """The file as a code block; without one, the reason as far as it is known."""
    try:
        source = read_untrusted(folder / KERNEL, max_bytes=_MOST_KERNEL_BYTES).decode("utf-8", errors="replace")
    except (OSError, UntrustedFileError) as error:
        reason = "it printed too much" if stop is Stop.LENGTH else "its time was over" if stop is Stop.CUT else ""
        return f"\n\nThe agent left no {KERNEL}{f': {reason}' if reason else ''} ({error}).\n"
    fence = "```"
    while fence in source:
        fence += "`"
    return f"\n\n{fence}python\n{source.rstrip()}\n{fence}\n"
