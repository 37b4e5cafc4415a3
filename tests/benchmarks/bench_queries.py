"""How long each question of `kgtui sessions` takes in a store of 100,000 runs, and what exporting a session costs.

Run it by hand: `python -m tests.benchmarks.bench_queries [RUNS]`.  A few runs are recorded as the workbench does it and
copied inside of the database.  One session has half of all runs, the others 250 each.  Every command is a process of
its own: its time includes the start of Python, its memory is the most that it had.
"""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from engine.model import Tier
from engine.model.events import CaseBenchmarked, Event
from sessions import open_store
from tests.benchmarks import bench_history
from tests.kgtui.fakes import timed_runs

RUNS = 100_000
RUNS_IN_SESSION = 250
TEMPLATES = 60
LIMIT_S = 1.0
_COPIED = ("events", "cases", "timings", "benchmarks", "comparisons", "summaries")
_NUMBERS = "with recursive numbers (n) as (select :first union all select n + 1 from numbers where n < :last)"


def main(runs: int) -> None:
    """Fill a store, ask everything, print a line for each question."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        path = home / "sessions.db"
        began_s = time.perf_counter()
        fill(path, runs)
        megabytes = sum(file.stat().st_size for file in home.glob("sessions.db*")) / 1e6
        print(
            f"{runs} runs made in {time.perf_counter() - began_s:.0f} s, {megabytes:.0f} MB, "
            f"load {os.getloadavg()[0]:.1f}"
        )
        none_s, none_mib = measured(home, ["--version"])
        print(f"{'kgtui --version':58} {none_s:6.2f} s {none_mib:7.0f} MiB")
        with open_store(path, read_only=True) as store:
            small = store.sessions(limit=2)[1].id
        for arguments in commands(runs, small):
            spent_s, most_mib = measured(home, arguments)
            star = " *" if spent_s - none_s > LIMIT_S and arguments[1:3] != ["export", "1"] else ""
            print(f"{' '.join(['kgtui', *arguments]):58} {spent_s:6.2f} s {most_mib:7.0f} MiB{star}", flush=True)


def commands(runs: int, small: int) -> Iterator[Sequence[str]]:
    """What can be asked; `small` is a session of usual size, session 1 has half of all runs."""
    half = str(runs // 2)
    sessions = "sessions"
    yield [sessions]
    yield [sessions, "list", "--limit", "1000"]
    yield [sessions, "list", "--runs"]
    yield [sessions, "list", "--runs", "--limit", "1000"]
    for typed in ("softmax", "op:nobody", "file:rope_12", "device:gpu", "is:flagged", "is:failed", "tag:tag3",
                  "tail mask", "nowhere", "softmax nowhere", "session:2"):  # fmt: skip
        yield [sessions, "list", "--find", typed]
    yield [sessions, "show"]
    yield [sessions, "show", half]
    yield [sessions, "restore", half, "restored.py"]
    yield ["compare", half, str(runs // 2 - bench_history.PROBLEMS)]
    for form in ("csv", "json", "jsonl", "markdown"):
        yield [sessions, "export", str(small), "--format", form, "--output", f"small.{form}"]
    yield [sessions, "export", "--run", half, "--format", "csv"]
    yield [sessions, "tag", half, "kept"]
    yield [sessions, "note", half, "a note"]
    yield [sessions, "delete", half, "--yes"]
    for form in ("csv", "jsonl"):
        yield [sessions, "export", "1", "--format", form, "--output", f"large.{form}"]


def measured(home: Path, arguments: Sequence[str]) -> tuple[float, float]:
    """How long the command took and the most memory that it had, in MiB."""
    environment = os.environ | {"KGTUI_HOME": str(home)}
    began_s = time.perf_counter()
    command = [sys.executable, "-m", "kgtui", *arguments]
    with (home / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=home, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print((home / "output").read_text()[:300])
    return time.perf_counter() - began_s, resource_mib(used)


def resource_mib(used: resource.struct_rusage) -> float:
    """Linux counts KiB."""
    return used.ru_maxrss / 1024


def fill(path: Path, runs: int) -> None:
    """The runs of bench_history, with events that were recorded once and copied."""
    with open_store(path, clock=bench_history._ticking_clock()) as store:
        session = store.begin_session("templates", environment={"torch": "2.13.0"})
        chance = bench_history.random.Random(1)
        for number in range(TEMPLATES):
            run = store.begin_run(
                session,
                bench_history._candidate(number),
                device="cpu",
                target="sm_90",
                tiers=(Tier.SMOKE,),
                path=bench_history._file(number),
            )
            store.record_all(run, timed_events(number, chance))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma synchronous = off")
        connection.create_function("problem", 1, bench_history._problem)
        connection.create_function("file", 1, lambda number: str(bench_history._file(number)))
        with connection:
            copy(connection, runs)


def timed_events(number: int, chance: random.Random) -> tuple[Event, ...]:
    """The events of a run, which timed a case before its verdict."""
    *events, verdict = bench_history._events(number, chance)
    case = timed_runs.timed_problem().cases[0]
    return (*events, CaseBenchmarked(at_s=0.4, number=1, total=1, benchmark=timed_runs.benchmark_of(case)), verdict)


def copy(connection: sqlite3.Connection, runs: int) -> None:
    """Make runs TEMPLATES + 1 to `runs` out of the templates."""
    bounds = {"first": TEMPLATES + 1, "last": runs}
    small = runs // 2 // RUNS_IN_SESSION
    connection.execute(
        f"""{_NUMBERS} insert into sessions (id, label, started_at, ended_at, pid, process_stamp)
        select n, 'session ' || n, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || n || ' hours'),
            '2026-06-01T00:00:00.000000Z', 1, null from numbers""",
        {"first": 2, "last": small + 2},
    )
    connection.execute(
        f"""{_NUMBERS} insert into candidates (digest, source, first_seen_at)
        select printf('%064d', n), (select source from candidates limit 1), '2026-01-01T00:00:00.000000Z' from numbers
        where n % 3 = 0""",
        bounds,
    )
    names = [row[1] for row in connection.execute("pragma table_info(runs)")]
    replaced = {
        "id": "n",
        "session": f"case when n <= {runs // 2} then 1 else 2 + (n - {runs // 2}) / {RUNS_IN_SESSION} end",
        "candidate": "case when n % 3 = 0 then printf('%064d', n) else candidate end",
        "problem": "problem(n)",
        "path": "file(n)",
        "tag": "case when n % 97 = 0 then 'tag' || n % 5 end",
        "note": "case when n % 211 = 0 then 'try ' || n || ' of [bold]the tail mask[/bold]' end",
    }
    chosen = ", ".join(replaced.get(name, name) for name in names)
    connection.execute(
        f"""{_NUMBERS} insert into runs ({", ".join(names)}) select {chosen}
        from numbers join runs on runs.id = 1 + n % {TEMPLATES}""",
        bounds,
    )
    for table in _COPIED:
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})") if row[1] != "id"]
        picked = ", ".join("n" if name == "run" else name for name in columns)
        connection.execute(
            f"""{_NUMBERS} insert into {table} ({", ".join(columns)}) select {picked}
            from numbers join {table} on {table}.run = 1 + n % {TEMPLATES}""",
            bounds,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
