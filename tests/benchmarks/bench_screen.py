"""First paint of the application, and ten thousand events through its screen: tables to read, not tests.

Run it as a program: python -m tests.benchmarks.bench_screen [starts].  The first table starts applications in turn, in
processes of their own on a pseudo-terminal of 120 x 36, and takes the time from before the start of Python until a text
is on the terminal: `kgtui` as a user starts it, and the application on doubles of engine and store.  The second sends
10,000 events of three kinds through engine, store and screen in this process and watches how long the event loop is
ever busy.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

COLUMNS, ROWS = 120, 36
EVENTS = 10_000
DEADLINE_S = 20.0
# What the app asks when it starts: synchronised output, in-band resizing, and where the cursor is.
ANSWERS = {b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y", b"\x1b[6n": b"\x1b[1;1R"}
STARTS = (
    ("a bare Textual application", "bare", b"bare"),
    ("kgtui: first paint", "kgtui", b"Operators"),
    ("kgtui open --sample: first paint", "sample", b"softmax.py"),
    ("operators: first paint", "operators", b"Operators"),
    ("operators: the real catalogue is listed", "operators", b"aten::add"),
    ("workbench: first paint", "workbench", b"softmax.py"),
)


def main(starts: int) -> None:
    """Print both tables."""
    print(f"{COLUMNS} x {ROWS}, {starts} starts each\n")
    print(f"{'from the start of the process to':42} {'min ms':>8} {'median ms':>10} {'max ms':>8}")
    for name, times_ms in starts_ms(starts).items():
        print(f"{name:42} {times_ms[0]:8.0f} {statistics.median(times_ms):10.0f} {times_ms[-1]:8.0f}")
    print(f"\n{'10,000 events, headless':42} {'total ms':>8} {'lag p95 ms':>10} {'worst ms':>8}")
    for store in ("memory", "file"):
        for kind in ("log", "cases", "mixed"):
            flood = asyncio.run(flooded(kind, store))
            name = f"{kind}, store in {'memory' if store == 'memory' else 'a file'}"
            print(f"{name:42} {1e3 * flood.total_s:8.0f} {1e3 * flood.p95_s:10.0f} {1e3 * flood.worst_s:8.0f}")


def starts_ms(starts: int) -> dict[str, list[float]]:
    """The times of each kind of start in ascending order; the kinds take turns, so that all see the same machine."""
    times_ms: dict[str, list[float]] = {name: [] for name, _, _ in STARTS}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:  # engines that are killed may still write
        os.environ["KGTUI_HOME"] = home
        for _ in range(starts):
            for name, child, marker in STARTS:
                times_ms[name].append(1e3 * first_seen_s(child, marker))
    return {name: sorted(times) for name, times in times_ms.items()}


def first_seen_s(child: str, marker: bytes) -> float:
    """Seconds from before the start of Python until `marker` came over the terminal."""
    began_s = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.bench_screen", "child", child])
    try:
        return _read_until(terminal, marker) - began_s
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _read_until(terminal: int, marker: bytes) -> float:
    seen, deadline_s = b"", time.perf_counter() + DEADLINE_S
    while time.perf_counter() < deadline_s:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        piece = os.read(terminal, 1 << 16)
        for question, answer in ANSWERS.items():
            if question in piece:
                os.write(terminal, answer)
        seen += piece
        if marker in seen:
            return time.perf_counter()
    raise TimeoutError(f"{marker!r} did not appear within {DEADLINE_S:.0f} s; the terminal shows {seen[-300:]!r}")


@dataclass(frozen=True, kw_only=True)
class Flood:
    """How long the events took until the last was drawn, and how late the event loop was meanwhile."""

    total_s: float
    p95_s: float
    worst_s: float


async def flooded(kind: str, store: str) -> Flood:
    """Send the events through an application without a terminal."""
    from tests.kgtui import fakes

    with tempfile.TemporaryDirectory() as folder:
        recording = fakes.MemoryRecording() if store == "memory" else _real_store(Path(folder))
        engine = fakes.FakeEngine()
        app = _application(Path(folder), engine=engine, recording=recording)
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            while app.runs.busy:
                await pilot.pause()
            await pilot.press("5" if kind == "log" else "1")
            await pilot.pause(0.5)
            engine.script = lambda candidate, plan: _events(kind, candidate, plan)
            lags: list[float] = []
            watching = asyncio.create_task(_watch_loop(lags))
            began_s = time.perf_counter()
            await pilot.app.screen.run_action("run_again")
            await asyncio.sleep(0)
            while app.runs.busy:
                await asyncio.sleep(0.001)
            total_s = time.perf_counter() - began_s
            await asyncio.sleep(0.2)  # what is drawn after the last event counts as lag too
            watching.cancel()
    lags.sort()
    return Flood(total_s=total_s, p95_s=lags[int(0.95 * len(lags))], worst_s=lags[-1])


async def _watch_loop(lags: list[float]) -> None:
    """Ask for a turn each millisecond and note how much later it came."""
    while True:
        asked_s = time.perf_counter()
        await asyncio.sleep(0.001)
        lags.append(time.perf_counter() - asked_s - 0.001)


def _events(kind: str, candidate: Any, plan: Any) -> Iterator[Any]:
    from engine.model.events import CaseFinished, LogWritten, RunFinished
    from tests.kgtui import fakes

    whole = fakes.all_pass(candidate, plan)
    first, last = whole[:10], next(event for event in whole if isinstance(event, RunFinished))
    log = next(event for event in whole if isinstance(event, LogWritten))
    case = next(event for event in whole if isinstance(event, CaseFinished))
    yield from first
    for number in range(EVENTS - len(first) - 1):
        if kind == "log" or (kind == "mixed" and number % 2):
            yield replace(log, text=f"line {number} of what the kernel printed")
        else:
            yield replace(case, number=number, result=replace(case.result, case=f"case {number}"))
    yield last


def _application(folder: Path, *, engine: Any, recording: Any, opened: bool = True) -> Any:
    from kgtui.app.application import WorkbenchApp
    from kgtui.app.services import Services
    from kgtui.app.start import Settings, Start
    from tests.kgtui import fakes

    path = folder / "softmax.py"
    path.write_bytes(fakes.SOURCE)
    return WorkbenchApp(
        services=Services(
            engine_factory=lambda: engine,
            store_opener=lambda: recording,
            has_store=lambda: True,
            problems=fakes.Problems() if opened else _real_problems(),
            watcher_factory=fakes.FakeWatcher,
            read_artefact=fakes.read_artefact,
            scaffold=lambda problem: "",
            diagnose=fakes.diagnose,
        ),
        settings=Settings(folder=folder, data=folder),
        start=Start(problem=fakes.softmax_problem(), path=path) if opened else None,
        now=lambda: datetime.now(UTC),
    )


def _real_store(folder: Path) -> Any:
    from kgtui.history.recorder import StoreRecording
    from sessions.store import open_store

    return StoreRecording(open_store(folder / "kgtui.db"), label="benchmark", environment={})


def _real_problems() -> Any:
    from problems.index import open_index

    return open_index()


def run_child(which: str) -> None:
    """Be the application that is measured."""
    if which == "bare":
        from textual.app import App
        from textual.widgets import Static

        class Bare(App[None]):
            def compose(self) -> Iterator[Static]:
                yield Static("bare")

        Bare().run()
        return
    if which in ("kgtui", "sample"):
        from kgtui.cli.main import main as kgtui

        os.chdir(os.environ["KGTUI_HOME"])
        kgtui(["open", "--sample"] if which == "sample" else [])
        return
    from tests.kgtui import fakes

    with tempfile.TemporaryDirectory() as folder:
        opened = which == "workbench"
        app = _application(Path(folder), engine=fakes.FakeEngine(), recording=fakes.MemoryRecording(), opened=opened)
        app.run()


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
