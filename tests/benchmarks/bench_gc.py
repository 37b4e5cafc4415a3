"""When the application collects garbage, and for how long it stands still for that: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_gc [ROUNDS].  The application runs as in bench_turns.py, on a
double of the engine and a store, in a process of its own on a pseudo-terminal; this program does there what
bench_turns.py does, once for each policy in turn: `default` (Python's own) and `freeze` (one `gc.freeze()` once the
application has started, as `kgtui.composition` asks for).  Of each run it takes the processor time of the longest
collection and of all of them, and the memory at the end.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import platform
import pty
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_history, bench_turns

POLICIES = ("default", "freeze")
RUNS = 2_000  # of the store
LONG_MS = 16.0  # a collection that takes longer delays a frame


def main(rounds: int) -> None:
    """Run each policy as often as asked, taking turns, and print one table."""
    found: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "filled.db"
        with bench_history.open_store(store, clock=bench_history._ticking_clock()) as made:
            bench_history.fill(made, runs=RUNS)
        for turn in range(rounds):
            for policy in POLICIES:
                folder = Path(name) / f"{policy}-{turn}"
                folder.mkdir()
                bench_turns.stock(folder, store)
                found[policy].append(measured(folder, policy))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}, Python {platform.python_version()}; {rounds} rounds; medians (least to most)\n")
    print(f"{'policy':10} {'longest ms':>18} {f'over {LONG_MS:.0f} ms':>18} {'all ms':>18} {'memory MiB':>18}")
    for policy, rows in found.items():
        cells = (
            f"{statistics.median(column):.0f} ({min(column):.0f} to {max(column):.0f})"
            for column in zip(*rows, strict=False)
        )
        print(f"{policy:10} " + " ".join(f"{cell:>18}" for cell in cells))


def measured(folder: Path, policy: str) -> tuple[float, ...]:
    """Longest collection, number of long ones, all of them in ms, and the memory at the end in MiB."""
    (folder / bench_turns._STOCK).rename(folder / "kgtui.db")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", bench_turns.ROWS, bench_turns.COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.bench_gc", "child", str(folder), policy])
    try:
        for step in bench_turns.STEPS:
            for key in step.keys or (b"",):
                os.write(terminal, key)
                bench_turns._read_for(terminal, step.wait_s)
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    times_ms = [float(line) for line in (folder / "collections").read_text().splitlines()]
    long = sum(time_ms > LONG_MS for time_ms in times_ms)
    return max(times_ms), long, sum(times_ms), pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run_child(folder: Path, policy: str) -> None:
    """Be the application that is measured, under this policy."""
    app = bench_turns._application(folder)
    if policy == "default":
        app._started = lambda: None
    began_s = 0.0
    with (folder / "collections").open("w", buffering=1) as file:

        def note(phase: str, facts: dict[str, Any]) -> None:
            nonlocal began_s
            if phase == "start":
                began_s = time.thread_time()
            else:
                file.write(f"{1e3 * (time.thread_time() - began_s):.3f}\n")

        gc.callbacks.append(note)
        asyncio.run(app.run_async())


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(Path(sys.argv[2]), sys.argv[3])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
