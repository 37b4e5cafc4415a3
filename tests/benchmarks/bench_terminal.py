"""The whole application as a user's terminal sees it, from the first paint to 100,000 runs: a table, no test.

Run it as a program: python -m tests.benchmarks.bench_terminal [KEYS [STORE]].  The application runs on a double of the
engine and a real store, in a process of its own on a pseudo-terminal; this program presses keys and takes the time
until the last byte of the answer.  In that process a task asks for a turn every two milliseconds: where one came more
than 50 ms late, the row says how late, and what ran then.  STORE is a file that bench_history.py has filled.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import platform
import pty
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_history, bench_screen
from tests.benchmarks.bench_editor import answered, kernel_source, machine_code

COLUMNS, ROWS = 120, 36
SASS_LINES = 20_000
RUNS = 100_000
STARTS = 5
QUIET_S, SETTLED_S = 0.06, 0.6
TURN_S, LATE_S = 0.002, 0.05
LATENESS = "late.txt"
DOWN, PAGE_DOWN, QUIT = b"\x1b[B", b"\x1b[6~", b"\x11"
# The screens by the keys that open them, and the key that leads back.
SCREENS = {
    "operators": b"\x0f",
    "help": b"?",
    "inspection": b"I",
    "bench plot": b"B",
    "targets": b"T",
    "differences": b"D",
    "palette": b"\x10",
}


def main(keys: int, store: Path | None) -> None:
    """Measure all, and print one table at the end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if store is None:
            store = folder / "filled.db"
            with bench_history.open_store(store, clock=bench_history._ticking_clock()) as filled:
                bench_history.fill(filled, runs=RUNS)
        lines = [*starts(folder), *work(folder, keys=keys), *history(folder, store, keys=keys)]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    versions = f"Python {platform.python_version()}, Textual {version('textual')}"
    print(f"{machine}, {versions}; {COLUMNS} x {ROWS}, {keys} keys each\n")
    print(
        f"{'what':46} {'runs':>5} {'median ms':>10} {'p95 ms':>8} {'worst ms':>9}  late by ms (of which it worked), in"
    )
    for line in lines:
        print(line.text)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of the table."""

    name: str
    times_ms: Sequence[float]
    late: str = ""

    @property
    def text(self) -> str:
        """The row as it is printed."""
        times = sorted(self.times_ms)
        p95_ms = times[int(0.95 * (len(times) - 1))]
        times_text = f"{statistics.median(times):10.1f} {p95_ms:8.1f} {times[-1]:9.1f}"
        return f"{self.name:46} {len(times):5} {times_text}  {self.late}"


def starts(folder: Path) -> Iterator[Line]:
    """From before the start of Python to the first paint, with and without compiled modules."""
    for which in ("operators", "workbench"):
        for kind in ("compiled modules", "none compiled"):
            times_ms = []
            for number in range(STARTS):
                environment = {}
                if kind == "none compiled":
                    environment = {"PYTHONPYCACHEPREFIX": str(folder / f"cache{which}{number}")}
                marker = b"Operators" if which == "operators" else b"softmax.py"
                began_s = time.perf_counter()
                with started(folder, which, lines=200, environment=environment) as (terminal, _):
                    times_ms.append(1e3 * (bench_screen._read_until(terminal, marker) - began_s))
            yield Line(name=f"first paint, {which}, {kind}", times_ms=times_ms)


def work(folder: Path, *, keys: int) -> Iterator[Line]:
    """Keys in the source, in compiled code, 10,000 events, and every screen."""
    for lines in (200, 2_000):
        with started(folder, "workbench", lines=lines) as (terminal, late):
            answered(terminal, first_s=30, quiet_s=1.0)
            yield Line(name=f"open a file of {lines:,} lines", times_ms=[0.0], late=late())
            yield pressed(f"{lines:,} lines, arrow", terminal, late, [DOWN] * keys)
            answered(press(terminal, b"e"), first_s=5, quiet_s=0.3)
            yield pressed(f"{lines:,} lines, letter", terminal, late, [b"x"] * keys)
    with started(folder, "workbench", lines=200) as (terminal, late):
        answered(terminal, first_s=30, quiet_s=1.0)
        yield pressed("next tab", terminal, late, [b"]"] * keys, quiet_s=0.3)
        for name, key in SCREENS.items():
            yield pressed(f"open: {name}", terminal, late, [key], quiet_s=SETTLED_S)
            yield pressed(f"leave: {name}", terminal, late, [b"\x1b"], quiet_s=SETTLED_S)
        late()
        answered(press(terminal, b"4"), first_s=5, quiet_s=0.5)
        answered(press(terminal, b"x"), first_s=5, quiet_s=0.5)
        yield Line(name=f"show {SASS_LINES:,} lines of SASS", times_ms=[0.0], late=late())
        yield pressed("SASS, line down", terminal, late, [DOWN] * keys)
        yield pressed("SASS, page down", terminal, late, [PAGE_DOWN] * keys)
    with started(folder, "flood", lines=200) as (terminal, late):
        answered(terminal, first_s=30, quiet_s=1.0)
        late()
        yield pressed(f"{bench_screen.EVENTS:,} events", terminal, late, [b"r"], quiet_s=1.0)


def history(folder: Path, store: Path, *, keys: int) -> Iterator[Line]:
    """The list of all runs in a store of 100,000."""
    shutil.copy(store, folder / "kgtui.db")
    with started(folder, "history", lines=200) as (terminal, late):
        answered(terminal, first_s=30, quiet_s=1.0)
        late()
        yield pressed("open: history", terminal, late, [b"H"], quiet_s=SETTLED_S)
        yield pressed("history, line down", terminal, late, [DOWN] * keys)
        yield pressed("history, page down", terminal, late, [PAGE_DOWN] * keys)
        yield pressed("history, last run", terminal, late, [b"G"])


def pressed(
    name: str, terminal: int, late: Callable[[], str], keys: Sequence[bytes], *, quiet_s: float = QUIET_S
) -> Line:
    """Press the keys one after the other, each when the answer to the one before is whole."""
    times_ms = []
    for key in keys:
        sent_s = time.perf_counter()
        try:
            answer = answered(press(terminal, key), first_s=2.0, quiet_s=quiet_s)
        except TimeoutError:
            continue  # nothing changed, as at the end of a list
        times_ms.append(1e3 * (answer.last_s - sent_s))
    return Line(name=name, times_ms=times_ms or [float("nan")], late=late())


def press(terminal: int, key: bytes) -> int:
    """Send the key; the terminal, to read from."""
    os.write(terminal, key)
    return terminal


@contextmanager
def started(
    folder: Path, which: str, *, lines: int, environment: dict[str, str] | None = None
) -> Iterator[tuple[int, Callable[[], str]]]:
    """The application on a terminal, and what tells how late its loop was since that was last asked."""
    lateness = folder / LATENESS
    lateness.write_text("")
    if which != "history":
        for file in folder.glob("kgtui.db*"):
            file.unlink()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(
            TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none", **(environment or {})
        )
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execv(
            sys.executable,
            [sys.executable, "-m", "tests.benchmarks.bench_terminal", "child", str(folder), which, str(lines)],
        )
    seen = 0

    def late() -> str:
        nonlocal seen
        said = lateness.read_text()
        new, seen = said[seen:], len(said)
        return "; ".join(new.splitlines())

    try:
        yield terminal, late
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


# In the application's own process


def run_child(folder: Path, which: str, lines: int) -> None:
    """Be the application that is measured."""
    app = _application(folder, which, lines)
    asyncio.run(_watched(app, folder / LATENESS))


def _application(folder: Path, which: str, lines: int) -> Any:
    from kgtui.app.application import WorkbenchApp
    from kgtui.app.services import Services
    from kgtui.app.start import Settings, Start
    from tests.kgtui import fakes

    path = folder / "softmax.py"
    path.write_text(kernel_source(lines))
    engine = fakes.FakeEngine()
    if which == "flood":
        engine.script = lambda candidate, plan: (
            fakes.all_pass(candidate, plan)
            if len(engine.evaluated) == 1
            else bench_screen._events("mixed", candidate, plan)
        )
    sass = machine_code(SASS_LINES).encode() if which != "operators" else b""
    return WorkbenchApp(
        services=Services(
            engine_factory=lambda: engine,
            store_opener=lambda: bench_screen._real_store(folder),
            has_store=lambda: False,
            problems=fakes.Problems() if which != "operators" else bench_screen._real_problems(),
            watcher_factory=fakes.FakeWatcher,
            read_artefact=lambda digest: sass if digest == "c" * 64 else fakes.read_artefact(digest),
            scaffold=lambda problem: "",
            diagnose=fakes.diagnose,
        ),
        settings=Settings(folder=folder, data=folder),
        start=Start(problem=fakes.softmax_problem(), path=path) if which != "operators" else None,
        started=gc.freeze,
    )


async def _watched(app: Any, lateness: Path) -> None:
    turn = _Turn()
    threading.Thread(target=_name_what_holds_up, args=(turn, threading.get_ident()), daemon=True).start()
    watching = asyncio.create_task(_take_turns(turn, lateness))
    await app.run_async()
    watching.cancel()


@dataclass
class _Turn:
    """When the loop last gave a turn, and what ran when it was late."""

    at_s: float = float("inf")
    held_up_by: str = ""


async def _take_turns(turn: _Turn, lateness: Path) -> None:
    while True:
        turn.at_s, worked_s = time.perf_counter(), time.thread_time()
        await asyncio.sleep(TURN_S)
        late_s, worked_s = time.perf_counter() - turn.at_s - TURN_S, time.thread_time() - worked_s
        if late_s > LATE_S:
            with lateness.open("a") as file:
                file.write(f"{1e3 * late_s:.0f} ({1e3 * worked_s:.0f}) {turn.held_up_by}\n")
        turn.held_up_by = ""


def _name_what_holds_up(turn: _Turn, loop_thread: int) -> None:
    while True:
        time.sleep(TURN_S)
        if time.perf_counter() - turn.at_s > LATE_S / 2 and not turn.held_up_by:
            frames = traceback.extract_stack(sys._current_frames()[loop_thread])
            ours = [frame for frame in frames if "/kgtui/" in frame.filename]
            places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in (*ours[-3:], frames[-1])]
            turn.held_up_by = " > ".join(dict.fromkeys(places))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
