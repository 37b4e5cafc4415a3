"""The longest turns of the event loop while saved files are really judged: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_saves [SAVES].  The application runs on the real engine of the
CPU, in a process of its own on a pseudo-terminal; this program saves a kernel again and again, short, long, and wrong,
and opens screens while it is judged.  bench_turns.py does more, on a double of the engine.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import platform
import pty
import signal
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_turns
from tests.benchmarks.bench_editor import kernel_source

SAMPLE = Path(__file__).parents[2] / "kgtui" / "samples" / "softmax.py"
LINES = 1_900  # beside the sample's own
_STORE = "tl.store(y_row_ptr + col * inner, y, mask=inside)"
_WRONG_STORE = "tl.store(y_row_ptr + col * inner, y, mask=inside & (col < cols - 1))"


@dataclass(frozen=True, kw_only=True)
class Step:
    """What is done: a file is saved, or keys are pressed; and how long the application is watched then."""

    name: str
    text: str = ""
    keys: Sequence[bytes] = ()
    wait_s: float = 3.0


def steps(saves: int) -> Iterator[Step]:
    """The walk through the application; no text is saved twice."""
    short = SAMPLE.read_text()
    long = short + "\n\n" + kernel_source(LINES)
    yield Step(name="start, judge the sample", wait_s=10.0)
    for number in range(saves):
        yield Step(name="save the sample", text=f"{short}\n# {number}\n", wait_s=5.0)
    for number in range(saves):
        yield Step(name="save 2,000 lines", text=f"{long}\n# {number}\n", wait_s=8.0)
    wrong = long.replace(_STORE, _WRONG_STORE)
    assert wrong != long
    yield Step(name="save 2,000 wrong lines", text=wrong, wait_s=8.0)
    for name, key in {"help": b"?", "operators": b"\x0f"}.items():
        yield Step(name=f"{name} while it is judged", keys=[b"r", key], wait_s=6.0)
        yield Step(name=f"leave {name}", keys=[bench_turns.ESCAPE], wait_s=1.0)
    for name, key in {"inspection": b"I", "targets": b"T", "history": b"H", "comparison": b"c"}.items():
        yield Step(name=f"open the {name}", keys=[key], wait_s=25.0 if name == "targets" else 3.0)
        yield Step(name=f"leave the {name}", keys=[bench_turns.ESCAPE], wait_s=1.0)


def main(saves: int) -> None:
    """Take the steps, and print the longest turn of each."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    versions = f"Python {platform.python_version()}, Textual {version('textual')}, torch {version('torch')}"
    print(f"{machine}, {versions}; {bench_turns.COLUMNS} x {bench_turns.ROWS}; the longest turn of each step\n")
    print(f"{'what':30} {'took ms':>8} {'worked ms':>9} {'gc ms':>6}")
    none = bench_turns.Turn(worked_ms=0, took_ms=0, collected_ms=0, where="")
    with tempfile.TemporaryDirectory() as name, started(Path(name)) as terminal:
        seen = 0
        for step in steps(saves):
            if step.text:
                (Path(name) / "kernel.py").write_text(step.text)
            for key in step.keys:
                os.write(terminal, key)
                bench_turns._read_for(terminal, 0.5)
            bench_turns._read_for(terminal, step.wait_s)
            reported = (Path(name) / bench_turns._TURNS).read_text().splitlines()
            turns = [bench_turns.Turn(**json.loads(line)) for line in reported]
            most = max(turns[seen:], key=lambda turn: turn.took_ms, default=none)
            star = " *" if most.took_ms > bench_turns.LIMIT_MS else ""
            print(
                f"{step.name:30} {most.took_ms:8.0f} {most.worked_ms:9.0f} {most.collected_ms:6.0f}{star}", flush=True
            )
            seen = len(turns)


@contextmanager
def started(folder: Path, *, program: str = "tests.benchmarks.bench_saves") -> Iterator[int]:
    """The application on a terminal, with the sample open; `program` is the module that runs it as `child`."""
    (folder / bench_turns._TURNS).write_text("")
    (folder / "kernel.py").write_text(SAMPLE.read_text())
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(
            TERM="xterm-256color",
            COLORTERM="truecolor",
            TEXTUAL_ANIMATIONS="none",
            HOME=str(folder),
            KGTUI_HOME=str(folder / "home"),
        )
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", bench_turns.ROWS, bench_turns.COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-m", program, "child", str(folder)])
    try:
        yield terminal
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def run_child(folder: Path) -> None:
    """Be the application that is watched, as `kgtui open` starts it."""
    run = asyncio.run
    with (folder / bench_turns._TURNS).open("a", buffering=1) as file:

        def watched(main: Any, **options: Any) -> Any:  # Any: as asyncio.run takes and gives it
            bench_turns._Watch(file).begin()
            return run(main, **options)

        asyncio.run = watched
        from kgtui.cli.main import main as kgtui

        sys.exit(kgtui(["open", str(folder / "kernel.py"), "--op", "aten::softmax"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
