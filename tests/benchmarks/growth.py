"""How the memory of the workbench grows from save to save, and what it costs while nothing happens: tables, no test.

    python -m tests.benchmarks.growth saves [SAVES] [real|double] [objects]
    python -m tests.benchmarks.growth idle [SECONDS] [real|double]

`saves` starts the application on a pseudo-terminal with a real store and a real watcher, on the engine of the CPU or on
its double, and saves passing, failing, broken and earlier versions of a kernel in turn.  It prints the resident memory
of the application and of its child processes; "own" is without pages of files, such as those of shared libraries, which
the system takes back and reads again.  With `objects` the application looks at its own heap at the first and
the last line of the table, which changes what is measured: what a full collection frees, what the C library gives
back, and which types of objects became more.  `idle` prints the CPU time of the application and of its children while
a verified file is on the screen and no key is pressed.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import json
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_screen

COLUMNS, ROWS = 120, 36
SAVES, LINES_OF_TABLE = 300, 10
WARM_SAVES = 20  # every kind of save has come several times by then: what is made once is there
REST_S = 13.0  # what was put aside is looked through after such a rest
IDLE_S, RUN_LIMIT_S = 60.0, 120.0
SETTLE_S, QUIET_S, SETTLE_LIMIT_S = 12.0, 0.1, 240.0
SAMPLE = Path(__file__).parents[2] / "kgtui" / "samples" / "softmax.py"
_STORE = "tl.store(y_row_ptr + col * inner, y, mask=inside)"
_WRONG_STORE = "tl.store(y_row_ptr + col * inner, y, mask=inside & (col < cols - 1))"
_SMOKE = "# kgtui: cases=smoke\n"  # the other cases take the interpreter long
_VERDICTS, _OBJECTS, _KERNEL = "verdicts", "objects.jsonl", "kernel.py"
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_MOST_TYPES = 25


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """The application as its process, its terminal and its folder."""

    pid: int
    terminal: int
    folder: Path

    def save(self, text: str) -> None:
        """Save as most editors do: whole, under another name first."""
        aside = self.folder / "kernel.new"
        aside.write_text(text)
        aside.replace(self.folder / _KERNEL)

    def verdicts(self) -> int:
        """How many runs have ended."""
        return (self.folder / _VERDICTS).stat().st_size

    def wait(self, verdicts: int) -> None:
        """Be its terminal until so many runs have ended."""
        until_s = time.monotonic() + RUN_LIMIT_S
        while self.verdicts() < verdicts and time.monotonic() < until_s:
            self.attend(0.05)

    def attend(self, wait_s: float) -> None:
        """Be its terminal for so long."""
        until_s = time.monotonic() + wait_s
        while (left_s := until_s - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left_s)[0]:
                piece = os.read(self.terminal, 1 << 16)
                for question, reply in bench_screen.ANSWERS.items():
                    os.write(self.terminal, reply * piece.count(question))


def texts(saves: int) -> Iterator[str]:
    """Passing, failing, broken, an earlier version: in turn, and none of the first three twice."""
    right = _SMOKE + SAMPLE.read_text()
    wrong = right.replace(_STORE, _WRONG_STORE)
    assert wrong != right
    for number in range(saves):
        kind = number % 4
        if kind == 0:
            yield f"{right}\n# {number}\n"
        elif kind == 1:
            yield f"{wrong}\n# {number}\n"
        elif kind == 2:
            yield f"{right}\n# {number}\ndef broken(:\n"
        else:
            yield f"{right}\n# {number - 3}\n"


def print_growth(saves: int, *, engine: str, objects: bool) -> None:
    """Save and print the table."""
    print(f"{saves} saves, engine: {engine}, {COLUMNS} x {ROWS}, load {os.getloadavg()[0]:.1f}")
    print(f"{'saves':>6} {'MiB':>8} {'own MiB':>8} {'children MiB':>13} {'children':>9}", flush=True)
    marks = {WARM_SAVES, *(saves * part // LINES_OF_TABLE for part in range(1, LINES_OF_TABLE + 1))}
    with tempfile.TemporaryDirectory() as name, started(Path(name), engine) as workbench:
        workbench.wait(1)
        for number, text in enumerate(texts(saves), start=1):
            before = workbench.verdicts()
            workbench.save(text)
            workbench.wait(before + 1)
            if number in marks:
                workbench.attend(REST_S)
                below = list(children(workbench.pid))
                rss, rss_below = resident_mib(workbench.pid), sum(map(resident_mib, below))
                own = resident_mib(workbench.pid, "RssAnon")
                print(f"{number:6} {rss:8.1f} {own:8.1f} {rss_below:13.1f} {len(below):9}", flush=True)
                if objects and number in (WARM_SAVES, saves):
                    os.kill(workbench.pid, signal.SIGUSR2)
                    workbench.attend(10.0)
        if objects:
            print_objects([json.loads(line) for line in (Path(name) / _OBJECTS).read_text().splitlines()])


def print_objects(looks: list[dict[str, Any]]) -> None:
    """What the application found in its own heap, first and last."""
    first, last = looks[0], looks[-1]
    for name, look in (("first", first), ("last", last)):
        print(
            f"{name}: {look['before']:.1f} MiB, collected {look['collected']:.1f}, trimmed {look['trimmed']:.1f}, "
            f"objects {look['objects']}, after collecting {look['left']}"
        )
    growth = Counter(last["types"])
    growth.subtract(first["types"])
    for kind, count in growth.most_common(_MOST_TYPES):
        print(f"{count:8} more {kind}")
    for line in last.get("traced", ()):
        print(line)


def print_idle(idle_s: float, engine: str) -> None:
    """Watch an application that has nothing to do."""
    with tempfile.TemporaryDirectory() as name, started(Path(name), engine) as workbench:
        workbench.wait(1)
        settle(workbench)
        below = list(children(workbench.pid))
        before_s, below_before_s = cpu_s(workbench.pid), {pid: cpu_s(pid) for pid in below}
        threads_before = threads(workbench.pid)
        wakes = switches(workbench.pid)
        workbench.attend(idle_s)
        used_s, wakes = cpu_s(workbench.pid) - before_s, switches(workbench.pid) - wakes
        print(f"idle for {idle_s:.0f} s, engine: {engine}, load {os.getloadavg()[0]:.1f}")
        print(
            f"application: {used_s:.2f} s, {100 * used_s / idle_s:.2f} % of a core, {wakes / idle_s:.1f} wakes a second"
        )
        for (thread, name), (ran_s, slept) in threads(workbench.pid).items():
            ran_before_s, slept_before = threads_before.get((thread, name), (0.0, 0))
            share, wakes_a_s = 100 * (ran_s - ran_before_s) / idle_s, (slept - slept_before) / idle_s
            print(f"  thread {thread} {name}: {share:.3f} %, {wakes_a_s:.1f} wakes a second")
        for pid in below:
            spent_s = cpu_s(pid) - below_before_s[pid]
            print(f"child {pid}: {spent_s:.2f} s, {100 * spent_s / idle_s:.2f} % of a core")


def settle(workbench: Workbench) -> None:
    """Wait until what follows a verdict is done: machine code, and the next warm processes."""
    busy_s, until_s = 1.0, time.monotonic() + SETTLE_LIMIT_S
    while busy_s > QUIET_S and time.monotonic() < until_s:
        before_s = sum(map(cpu_s, (workbench.pid, *children(workbench.pid))))
        workbench.attend(SETTLE_S)
        busy_s = abs(sum(map(cpu_s, (workbench.pid, *children(workbench.pid)))) - before_s)


@contextmanager
def started(folder: Path, engine: str) -> Iterator[Workbench]:
    """The application on a terminal, with the sample open."""
    (folder / _VERDICTS).touch()
    (folder / _OBJECTS).touch()
    (folder / _KERNEL).write_text(f"{_SMOKE}{SAMPLE.read_text()}")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(
            TERM="xterm-256color",
            COLORTERM="truecolor",
            TEXTUAL_ANIMATIONS="none",
            HOME=str(folder),
            KGTUI_HOME=str(folder / "home"),
        )
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.growth", "child", str(folder), engine])
    try:
        yield Workbench(pid=pid, terminal=terminal, folder=folder)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def children(pid: int) -> Iterator[int]:
    """Every process below this one."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(child)
        yield from children(int(child))


def resident_mib(pid: int, field: str = "VmRSS") -> float:
    """Resident memory of a process, or a part of it such as RssAnon; 0 for one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)


def cpu_s(pid: int) -> float:
    """User and system time of all threads of the process; 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def threads(pid: int) -> dict[tuple[str, str], tuple[float, int]]:
    """How long each thread of the process ran, and how often it went to sleep."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        ran_s = int((task / "schedstat").read_text().split()[0]) / 1e9
        lines = (task / "status").read_text().splitlines()
        slept = next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
        found[task.name, (task / "comm").read_text().strip()] = ran_s, slept
    return found


def switches(pid: int) -> int:
    """How often any thread of the process went to sleep."""
    statuses = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/status")]
    lines = [line for status in statuses for line in status.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


# In the application's own process


def run_child(folder: Path, engine: str) -> None:
    """Be the application, as `kgtui open` starts it, on either engine."""
    from kgtui.app.jobs.run_audience import RunAudience

    verdicts = (folder / _VERDICTS).open("ab", buffering=0)
    shown = RunAudience.on_events

    def counted(self: Any, events: Any) -> None:
        shown(self, events)
        verdicts.write(b"." * sum(type(event).__name__ == "RunFinished" for event in events))

    RunAudience.on_events = counted  # type: ignore[method-assign]  # the one place that every event passes
    signal.signal(signal.SIGUSR2, lambda *_: threading.Thread(target=_look, args=(folder,), daemon=True).start())
    if os.environ.get("GROWTH_TRACE"):
        import tracemalloc

        tracemalloc.start(int(os.environ["GROWTH_TRACE"]))
    if engine == "double":
        _use_double()
    from kgtui.cli.main import main as kgtui

    sys.exit(kgtui(["open", str(folder / _KERNEL), "--op", "aten::softmax"]))


def _use_double() -> None:
    """Verify with the double of the tests, with as many events as the engine has."""
    import engine.engine
    from tests.kgtui import fakes

    def script(candidate: Any, plan: Any) -> Any:
        if _WRONG_STORE.encode() in candidate.source:
            return fakes.some_fail(candidate, plan)
        return fakes.all_pass(candidate, plan)

    class Double(fakes.FakeEngine):
        def __init__(self, **_: Any) -> None:
            super().__init__()
            self.script = script
            self.evaluated = _Forgets()
            self.device = type("Device", (), {"name": "a double", "platform": "cpu"})()

    engine.engine.Engine = Double  # type: ignore[misc]  # where the workbench finds it


class _Forgets(list[Any]):
    """What the double remembers for its tests would be growth of its own."""

    def append(self, _: Any) -> None:
        """Forget it."""


_earlier: Any = None


def _look(folder: Path) -> None:
    """Note what the heap holds now."""
    global _earlier
    pid = os.getpid()
    before = resident_mib(pid)
    objects = len(gc.get_objects()) + gc.get_freeze_count()
    gc.unfreeze()
    gc.collect()
    collected = resident_mib(pid)
    ctypes.CDLL(None).malloc_trim(0)
    held = gc.get_objects()
    kinds = Counter(f"{type(held_one).__module__}.{type(held_one).__qualname__}" for held_one in held)
    look = {
        "before": before,
        "collected": collected,
        "trimmed": resident_mib(pid),
        "objects": objects,
        "left": len(held),
        "types": dict(kinds),
    }
    if os.environ.get("GROWTH_TRACE"):
        import tracemalloc

        now = tracemalloc.take_snapshot()
        if _earlier is not None:
            top = now.compare_to(_earlier, "traceback")[:_MOST_TYPES]
            look["traced"] = [
                "\n".join([f"{stat.size_diff:+} B, {stat.count_diff:+}", *stat.traceback.format()[-10:]])
                for stat in top
            ]
        _earlier = now
    with (folder / _OBJECTS).open("a") as file:
        file.write(json.dumps(look) + "\n")


def main(arguments: list[str]) -> None:
    """Do what was typed."""
    if arguments[:1] == ["child"]:
        run_child(Path(arguments[1]), arguments[2])
    elif arguments[:1] == ["idle"]:
        numbers_s = [float(word) for word in arguments[1:] if word.isdigit()]
        print_idle(numbers_s[0] if numbers_s else IDLE_S, "double" if "double" in arguments else "real")
    else:
        numbers = [int(word) for word in arguments if word.isdigit()]
        engine = "double" if "double" in arguments else "real"
        print_growth(numbers[0] if numbers else SAVES, engine=engine, objects="objects" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
