"""An external agent, scripted: its folder, its time, its output, its tokens, its keys."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

from kgtui.generation.agents.output import MOST_SHOWN_CHARACTERS
from kgtui.generation.extraction import extract
from kgtui.generation.providers import open_provider
from kgtui.generation.records import (
    AnswerEnded,
    CompletionRequest,
    FileSaved,
    Message,
    ModelName,
    ProviderError,
    Role,
    Sampling,
    TextArrived,
)
from sessions.candidates.generation_rows import Stop, TokenUsage
from tests.full_disks import full_disk

KEY = "sk-agent-0123456789"
WRITES = "open('kernel.py', 'w').write('def softmax(self):\\n    return self\\n')"


@pytest.fixture
def stream(tmp_path):
    """The chunks of an agent that is this Python program."""

    def begin(program, *, timeout_s=60.0, command=None):
        (tmp_path / "agents").mkdir(exist_ok=True)
        described = {
            "command": command or [sys.executable, "-c", program, "{task}"], "variables": ["AGENT_KEY"],
            "input_tokens": r"in (\d+)", "output_tokens": r"out (\d+)",
        }  # fmt: skip
        (tmp_path / "agents" / "fake.json").write_text(json.dumps(described))
        environment = {"KGTUI_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "AGENT_KEY": KEY, "OTHER_KEY": "hidden"}
        provider = open_provider(ModelName(provider="agent", model="fake"), environment)
        request = CompletionRequest(
            model="fake", messages=(Message(role=Role.USER, text="write softmax"),),
            sampling=Sampling(timeout_s=timeout_s), key="k",
        )  # fmt: skip
        return provider.stream(request)

    return begin


@pytest.fixture
def agent(stream):
    """What comes of an agent that is this Python program: text, end."""

    async def run(program, **arguments):
        chunks = [chunk async for chunk in stream(program, **arguments)]
        text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextArrived))
        assert isinstance(chunks[-1], AnswerEnded)
        return text, chunks[-1]

    return run


def taken(text, stop=Stop.COMPLETE):
    return extract(text, entry="softmax", stop=stop)


async def test_file_of_agent_is_the_answer(agent):
    text, end = await agent(f"print('``` in 1200 out 340'); {WRITES}")
    assert taken(text).source == "def softmax(self):\n    return self\n"
    assert (end.stop, end.usage) == (Stop.COMPLETE, TokenUsage(input_tokens=1200, output_tokens=340))


async def test_agent_saves_are_reported_while_running(stream):
    program = (
        "import os, pathlib, time\n"
        "print(os.getcwd(), flush=True)\n"
        "for text in ('first', 'second'):\n"
        "    open('kernel.py', 'w').write(text)\n"
        "    while not pathlib.Path(text).exists(): time.sleep(0.01)\n"
    )
    saved, folder = [], None
    async for chunk in stream(program):
        if isinstance(chunk, FileSaved):
            saved.append(chunk.source)
            (folder / chunk.source.decode()).touch()
        elif folder is None:
            folder = Path(chunk.text.strip())
    assert saved == [b"first", b"second"]


async def test_reasoning_that_an_agent_prints_hides_no_file(agent):
    text, _ = await agent(f"print('<think>hm', flush=True); {WRITES}")
    assert taken(text).source == "def softmax(self):\n    return self\n"


async def test_agent_gets_task_in_file(agent):
    text, _ = await agent("import sys; print(open('TASK.md').read(), sys.argv[1])")
    assert "write softmax" in text
    assert "Carry out the task in TASK.md" in text


async def test_agent_key_is_private_and_redacted(agent):
    text, _ = await agent("import os; print(os.environ['AGENT_KEY'], 'OTHER_KEY' in os.environ)")
    assert "[key] False" in text
    assert KEY not in text


async def test_key_in_the_file_is_removed(agent):
    text, _ = await agent("import os; open('kernel.py', 'w').write('# ' + os.environ['AGENT_KEY'])")
    assert ("# [key]" in text, KEY in text) == (True, False)


async def test_agent_cannot_write_elsewhere(agent, tmp_path):
    text, _ = await agent(f"open({str(tmp_path / 'other.py')!r}, 'w')")
    assert "Permission denied" in text
    assert not (tmp_path / "other.py").exists()


async def test_endless_agent_is_stopped(agent):
    text, end = await agent("import time\nwhile True: time.sleep(1)", timeout_s=2.0)
    assert (end.stop, "it timed out" in text) == (Stop.CUT, True)


async def test_agent_with_excessive_output_is_stopped(agent):
    text, end = await agent("while True: print('x' * 1000)")
    assert (end.stop, "it printed too much" in text) == (Stop.LENGTH, True)
    assert len(text) < MOST_SHOWN_CHARACTERS + 200


@pytest.mark.parametrize("end", ["\\n", ""])
async def test_file_of_agent_with_excessive_output_is_kept(agent, end):
    text, ended = await agent(f"{WRITES}\nwhile True: print('x' * 1000, end='{end}')")
    assert ended.stop is Stop.LENGTH
    assert "The agent was stopped: it printed too much. This is the file that it wrote." in text
    assert taken(text, ended.stop).source == "def softmax(self):\n    return self\n"


async def test_a_descendant_holding_the_output_delays_no_end(agent, tmp_path):
    fifo = tmp_path / "until_closed"
    os.mkfifo(fifo)
    reads = f"import os; end = os.open({str(fifo)!r}, os.O_NONBLOCK); os.set_blocking(end, True); os.read(end, 1)"
    starts = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {reads!r}], start_new_session=True)"
    held = os.open(fifo, os.O_RDWR)
    try:
        _, end = await agent(f"{starts}\nwhile True: print('x' * 1000)")
    finally:
        os.close(held)
    assert end.stop is Stop.LENGTH


@pytest.mark.parametrize(("then", "stop"), [("", Stop.COMPLETE), ("while True: print('x' * 1000)", Stop.LENGTH)])
async def test_process_that_left_the_group_is_killed(agent, then, stop):
    program = (
        "import os, signal\nreader, writer = os.pipe()\n"
        "if not os.fork():\n    os.setsid(); print(os.getpid(), flush=True); os.write(writer, b'x'); signal.pause()\n"
        f"os.read(reader, 1)\n{then}"
    )
    text, end = await agent(program)
    assert end.stop is stop
    with pytest.raises(ProcessLookupError):
        os.kill(int(text.split()[0]), 0)


async def test_agent_without_file_is_reported(agent):
    text, _ = await agent("print('done')")
    assert "The agent wrote no kernel.py" in text
    assert taken(text).source is None


async def test_full_disk_before_the_agent_is_reported(stream):
    chunks = stream(WRITES)
    refusal = r"fake did not start: .*: File too large; free some space, or set TMPDIR"
    with full_disk(), pytest.raises(ProviderError, match=refusal):
        await anext(chunks)


@pytest.fixture
def ended_on_full_disk(stream):
    """The end of an agent's answer; the disk is full from its first output on."""

    async def run(program):
        chunks = []
        with contextlib.ExitStack() as disk:
            async for chunk in stream(program):
                if not chunks:
                    disk.enter_context(full_disk())
                chunks.append(chunk)
        assert isinstance(chunks[-1], AnswerEnded)
        return chunks[-1]

    return run


@pytest.mark.parametrize("text", ["", "def softmax(self"])
async def test_full_disk_during_the_agent_is_a_failure(ended_on_full_disk, text):
    program = f"open('kernel.py', 'w').write({text!r})\nprint('in 1200 out 340')"
    end = await ended_on_full_disk(program)
    assert end.failure.startswith("fake could not write kernel.py: ")
    assert end.failure.endswith(": File too large; free some space, or set TMPDIR to another folder")
    assert end.usage == TokenUsage(input_tokens=1200, output_tokens=340)


async def test_whole_file_is_taken_from_a_full_disk(ended_on_full_disk):
    assert (await ended_on_full_disk(f"{WRITES}; print('done')")).failure == ""


async def test_missing_agent_command_is_named(agent):
    with pytest.raises(ProviderError, match="no-such-agent: No such file"):
        await agent("", command=["no-such-agent"])


async def test_a_fence_in_the_file_stays_code(agent):
    program = "open('kernel.py', 'w').write('\"\"\"```\"\"\"\\ndef softmax(self):\\n    return self\\n')"
    text, _ = await agent(program)
    assert taken(text).source.startswith('"""```"""')
