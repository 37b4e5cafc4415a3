"""The longest turns of the application's event loop, screen by screen: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_turns [ROUNDS [STORE]].  The application runs on a double of the
engine and a real store of 100,000 runs, in a process of its own on a pseudo-terminal; this program opens every screen
of it and does there what is done most, on a kernel of 2,000 lines, 20,000 lines of SASS and 256 variants.  In that
process each turn of the loop is timed: what it computed, and how long it took.  A row names the longest of a step, the
median over the rounds, and where that turn was most of the time.  STORE is a file that bench_history.py has filled.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import json
import os
import platform
import pty
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

from tests.benchmarks import bench_history, bench_screen
from tests.benchmarks.bench_editor import kernel_source, machine_code

COLUMNS, ROWS = 120, 36
SOURCE_LINES, SASS_LINES = 2_000, 20_000
LIMIT_MS, NOTED_S, LOOK_S = 50.0, 0.01, 0.002
DOWN, PAGE_DOWN, ENTER, ESCAPE, SAVE = b"\x1b[B", b"\x1b[6~", b"\r", b"\x1b", b"\x13"
_SIXTEEN = ", ".join(str(1 << power) for power in range(16)).encode()
_TURNS = "turns.jsonl"
_STOCK, _OLD_SASS, _NEW_SASS = "stock.db", "d" * 64, "c" * 64
_ENDING = b"""

def softmax(x, dim):
    y = torch.empty_like(x)
    softmax_0[(x.shape[0],)](y, x, x.stride(0), x.shape[1], BLOCK=1024)
    return y
"""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn of the loop: what it computed, how long it took, how long Python collected garbage, where it was."""

    worked_ms: float
    took_ms: float
    collected_ms: float
    where: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """What is done: keys, and how long the application has for its answer to each."""

    name: str
    keys: Sequence[bytes] = ()
    wait_s: float = 0.4


STEPS = (
    Step(name="open the file, judge it", wait_s=4.0),
    Step(name="source: arrow", keys=[DOWN] * 10, wait_s=0.15),
    Step(name="each tab", keys=[b"2", b"3", b"5", b"6", b"1"]),
    Step(name="IR tab, first time", keys=[b"4"]),
    Step(name="IR: 20,000 lines of SASS", keys=[b"x"], wait_s=1.0),
    Step(name="IR: move in the SASS", keys=[b"\t", DOWN, PAGE_DOWN, PAGE_DOWN, b"G", b"g"], wait_s=0.15),
    Step(name="IR: search the SASS", keys=[b"/", b"BRA", ENTER, b"n"], wait_s=0.3),
    Step(name="source: edit", keys=[ESCAPE, b"1", b"e", *[b"#"] * 10], wait_s=0.2),
    Step(name="source: save", keys=[SAVE], wait_s=1.0),
    Step(name="open: why", keys=[ESCAPE, ESCAPE, b"1", DOWN, b"W"]),
    Step(name="leave: why", keys=[ESCAPE]),
    Step(name="judge again", keys=[b"r"], wait_s=1.0),
    *(
        step
        for name, key in {
            "bench plot": b"B", "inspection": b"I", "targets": b"T", "help": b"?", "operators": b"\x0f",
            "settings": b",", "doctor": b"M", "palette": b"\x10",
        }.items()
        for step in (
            Step(name=f"open: {name}", keys=[key], wait_s=0.6),
            Step(name=f"leave: {name}", keys=[ESCAPE]),
            Step(name=f"open again: {name}", keys=[key]),
            Step(name=f"leave again: {name}", keys=[ESCAPE]),
        )
    ),
    Step(name="open: differences of SASS", keys=[b"4", b"D"], wait_s=2.5),
    Step(name="differences: next, page", keys=[b"n", b"n", PAGE_DOWN, b"G"], wait_s=0.2),
    Step(name="leave: differences", keys=[ESCAPE]),
    Step(name="open: compare", keys=[b"c"], wait_s=2.5),
    Step(name="compare: move", keys=[b"n", b"n", DOWN, PAGE_DOWN, b"G"], wait_s=0.2),
    Step(name="compare: each part", keys=[b"2", b"3", b"4", b"5", b"6", b"1"]),
    Step(name="compare: copy all", keys=[b"Y"], wait_s=1.5),
    Step(name="leave: compare", keys=[ESCAPE]),
    Step(name="open: tune", keys=[b"u"], wait_s=0.8),
    Step(name="tune: 16 times 16 values", keys=[
        b"G", ENTER, b"\x15", _SIXTEEN, ENTER, b"k", ENTER, b"\x15", _SIXTEEN, ENTER,
    ]),
    Step(name="tune: try 256 variants", keys=[b"r"], wait_s=4.0),
    Step(name="tune: move", keys=[DOWN, PAGE_DOWN, b"G"], wait_s=0.2),
    Step(name="tune: sort, reverse", keys=[b"s", b"s", b"S"]),
    Step(name="tune: copy all", keys=[b"Y"]),
    Step(name="leave: tune", keys=[ESCAPE]),
    Step(name="open again: tune", keys=[b"u"], wait_s=0.8),
    Step(name="leave again: tune", keys=[ESCAPE]),
    Step(name="open: history of 100,000", keys=[b"H"], wait_s=1.0),
    Step(name="history: move", keys=[DOWN, *[PAGE_DOWN] * 5, b"G"], wait_s=0.3),
    Step(name="history: filter", keys=[b"/", b"device:gpu", ENTER], wait_s=0.6),
)  # fmt: skip


def main(rounds: int, store: Path | None) -> None:
    """Take the steps as often as asked, and print one table."""
    turns: defaultdict[str, list[Turn]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stock(folder, store)
        for _ in range(rounds):
            for step, longest in taken(folder):
                turns[step].append(longest)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    versions = f"Python {platform.python_version()}, Textual {version('textual')}"
    print(f"{machine}, {versions}; {COLUMNS} x {ROWS}, {rounds} rounds; the longest turn of each step, medians\n")
    print(f"{'what':30} {'worked ms':>9} {'most':>6} {'took ms':>8} {'gc ms':>6}   where it was for most of it")
    for step, longest in turns.items():
        print(row(step, longest))


def row(step: str, turns: Sequence[Turn]) -> str:
    """The line of a step; a star says that it was over the limit."""
    worked_ms = statistics.median(turn.worked_ms for turn in turns)
    took_ms, collected_ms = (
        statistics.median(getattr(turn, name) for turn in turns) for name in ("took_ms", "collected_ms")
    )
    most = max(turns, key=lambda turn: turn.worked_ms)
    star = "*" if worked_ms > LIMIT_MS else " "
    return (
        f"{step:30} {worked_ms:9.0f} {most.worked_ms:6.0f} {took_ms:8.0f} {collected_ms:6.0f} {star} "
        f"{most.where if most.worked_ms > LIMIT_MS / 2 else ''}"
    )


def stock(folder: Path, store: Path | None) -> None:
    """A store of 100,000 runs, and one more of an earlier text of the kernel, which was right and other code."""
    filled = folder / _STOCK
    if store is None:
        with bench_history.open_store(filled, clock=bench_history._ticking_clock()) as made:
            bench_history.fill(made, runs=bench_history.RUNS)
    else:
        shutil.copy(store, filled)
    from tests.kgtui.fakes import stored_runs

    with bench_history.open_store(filled) as made:
        seeded = stored_runs.Runs(folder, device="cuda", store=made)
        changed = [f"{line}  # was" if number % 7 == 0 else line for number, line in enumerate(_lines())]
        earlier = [line for number, line in enumerate(changed) if number % 40]
        seeded.add(_with_sass(stored_runs.faster(1.2), _OLD_SASS), "\n".join(earlier).encode() + _ENDING)


def taken(folder: Path) -> Iterator[tuple[str, Turn]]:
    """Each step in a fresh application, and the longest turn of the loop during it."""
    for file in folder.glob("kgtui.db*"):
        file.unlink()
    shutil.copy(folder / _STOCK, folder / "kgtui.db")
    with started(folder) as terminal:
        seen = 0
        for step in STEPS:
            for key in step.keys or (b"",):
                os.write(terminal, key)
                _read_for(terminal, step.wait_s)
            turns = [Turn(**json.loads(line)) for line in (folder / _TURNS).read_text().splitlines()]
            none = Turn(worked_ms=0, took_ms=0, collected_ms=0, where="")
            yield step.name, max(turns[seen:], key=lambda turn: turn.worked_ms, default=none)
            seen = len(turns)


def _read_for(terminal: int, wait_s: float) -> None:
    """Be a terminal for so long; a cursor that blinks is no reason to go on."""
    until_s = time.perf_counter() + wait_s
    while (left_s := until_s - time.perf_counter()) > 0:
        if select.select([terminal], [], [], left_s)[0]:
            piece = os.read(terminal, 1 << 16)
            for question, reply in bench_screen.ANSWERS.items():
                os.write(terminal, reply * piece.count(question))


@contextmanager
def started(folder: Path) -> Iterator[int]:
    """The application on a terminal."""
    (folder / _TURNS).write_text("")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.bench_turns", "child", str(folder)])
    try:
        yield terminal
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _lines() -> list[str]:
    return ["import torch", *kernel_source(SOURCE_LINES - 8).splitlines()]


# In the application's own process


def run_child(folder: Path) -> None:
    """Be the application that is measured."""
    app = _application(folder)
    with (folder / _TURNS).open("a", buffering=1) as file:
        _Watch(file).begin()
        asyncio.run(app.run_async())


class _Watch:
    """Times every turn of the loop, and looks now and then where a long one is."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._began_s: float | None = None
        self._collected_s = self._collecting_s = 0.0
        self._seen: Counter[str] = Counter()

    def begin(self) -> None:
        """Watch the loop of this thread from now on."""
        run, loop_thread = asyncio.Handle._run, threading.get_ident()

        def timed(handle: asyncio.Handle) -> None:
            self._collected_s, self._began_s, worked_s = 0.0, time.perf_counter(), time.thread_time()
            run(handle)
            worked_s, took_s = time.thread_time() - worked_s, time.perf_counter() - self._began_s
            self._began_s = None
            if worked_s > NOTED_S:
                where = self._seen.most_common(1)[0][0] if self._seen else ""
                turn = Turn(
                    worked_ms=1e3 * worked_s, took_ms=1e3 * took_s, collected_ms=1e3 * self._collected_s, where=where
                )
                self._file.write(json.dumps(asdict(turn)) + "\n")
            self._seen = Counter()

        asyncio.Handle._run = timed  # type: ignore[method-assign]  # the one place that every turn goes through
        gc.callbacks.append(self._collected)
        threading.Thread(target=self._look, args=(loop_thread,), daemon=True).start()

    def _collected(self, phase: str, facts: dict[str, int]) -> None:
        now_s = time.perf_counter()
        if phase == "start":
            self._collecting_s = now_s
        else:
            self._collected_s += now_s - self._collecting_s

    def _look(self, loop_thread: int) -> None:
        while True:
            time.sleep(LOOK_S)
            if self._began_s is not None and time.perf_counter() - self._began_s > NOTED_S:
                self._seen[_place(sys._current_frames()[loop_thread])] += 1


def _place(frame: FrameType | None) -> str:
    """The way to where the loop is: from what Textual called, over our last two functions, to what they called."""
    frames: list[tuple[str, str]] = []
    while frame is not None:
        frames.append((frame.f_code.co_filename, frame.f_code.co_qualname))
        frame = frame.f_back
    frames = [(file, name) for file, name in reversed(frames) if "/asyncio/" not in file and "message_pump" not in file]
    ours = [place for place, (file, _) in enumerate(frames) if "/kgtui/" in file and "site-packages" not in file]
    places = [3, *ours[-2:], *(place + 1 for place in ours[-1:]), len(frames) - 1] if ours else [3, 4, 5, -2, -1]
    names = [frames[place][1] for place in places if -len(frames) <= place < len(frames)]
    return " > ".join(dict.fromkeys(name.replace(".<locals>", "") for name in names))


def _with_sass(script: Any, digest: str) -> Any:
    """The same events, of other machine code."""

    def reported(candidate: Any, plan: Any) -> Iterator[Any]:
        for event in script(candidate, plan):
            if type(event).__name__ == "KernelDisassembled":
                event = replace(event, artefact=replace(event.artefact, digest=digest))
            yield event

    return reported


def _application(folder: Path) -> Any:  # Any: the doubles are not typed here
    from kgtui.app.application import WorkbenchApp
    from kgtui.app.services import Services
    from kgtui.app.start import Settings, Start
    from tests.kgtui import fakes
    from tests.kgtui.fakes import timed_runs

    path = folder / "softmax.py"
    path.write_bytes("\n".join(_lines()).encode() + _ENDING)
    engine = fakes.FakeEngine()

    def script(candidate: Any, plan: Any) -> Any:
        wrong = b"##########" in candidate.source and len(engine.evaluated) < 3
        return (fakes.some_fail if wrong else timed_runs.all_timed)(candidate, plan)

    engine.script = script
    new = machine_code(SASS_LINES)
    codes = {_NEW_SASS: new.encode(), _OLD_SASS: new.replace("FFMA R1", "FADD R2").encode()}
    return WorkbenchApp(
        services=Services(
            engine_factory=lambda: engine,
            store_opener=lambda: bench_screen._real_store(folder),
            has_store=lambda: False,
            problems=bench_screen._real_problems(),
            watcher_factory=fakes.FakeWatcher,
            read_artefact=lambda digest: codes.get(digest) or fakes.read_artefact(digest),
            scaffold=lambda problem: "",
            diagnose=fakes.diagnose,
        ),
        settings=Settings(folder=folder, data=folder, device="cuda"),
        start=Start(problem=timed_runs.timed_problem(), path=path),
        started=gc.freeze,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
