"""A batch that is killed with SIGKILL twice and resumed: whether a result is lost or made twice, and how fast it is.

    python -m tests.benchmarks.bench_resume [CANDIDATES] [JOBS]

The candidates are those of `suite_texts.py` for the KernelBench samples, each with another comment.  After a third and
after two thirds of the results the process of the command is killed by its id, and the same command with `--resume`
goes on.  Then the store is read: every candidate has one verdict, and of a run that ended with the process there is
no verdict.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from tests.benchmarks.suite_texts import CAP, SAMPLES, rows

CANDIDATES, JOBS, SUITE = 200, 2, "kernelbench"


def main() -> None:
    """Run the batch in three parts and print what the store has of it."""
    candidates = int(sys.argv[1]) if len(sys.argv) > 1 else CANDIDATES
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else JOBS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in varied(candidates)))
        command = [sys.executable, "-m", "kgtui", "check", "--suite", str(SAMPLES / SUITE), "--candidates", str(file),
                   "--cap", str(CAP), "--device", "cpu", "--target", "none", "--cases", "smoke", "--json",
                   "--jobs", str(jobs)]  # fmt: skip
        for part, enough in enumerate((candidates // 3, 2 * candidates // 3, None)):
            print_part(part, *run(command + ["--resume"] * bool(part), home=Path(folder), enough=enough))
        print_store(Path(folder), candidates)


def varied(candidates: int) -> list[dict[str, object]]:
    """So many rows, no two with the same source."""
    several = islice(cycle(rows(SUITE)), candidates)
    return [{**row, "code": f"{row['code']}\n# {number}\n"} for number, row in enumerate(several)]


def run(command: list[str], *, home: Path, enough: int | None) -> tuple[list[float], int]:
    """When each result came, in seconds, and how the process ended; it is killed after `enough` results."""
    environment = {**os.environ, "KGTUI_HOME": str(home)}
    began_s, times_s = time.perf_counter(), list[float]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if b'"kind":"result"' in line:
                times_s.append(time.perf_counter() - began_s)
            if enough is not None and len(times_s) >= enough:
                child.kill()
                break
    return times_s, child.returncode


def print_part(part: int, times_s: list[float], code: int) -> None:
    """How many results a part printed, of which those of before come at once, and how many a second."""
    print(f"part {part + 1}: {len(times_s)} results printed, exit status {code}, {times_s[-1]:.1f} s", flush=True)


def print_store(home: Path, candidates: int) -> None:
    """What the store has: candidates with a verdict, runs, and runs with a verdict for each source."""
    (file,) = home.rglob("sessions.db")
    with sqlite3.connect(file) as store:
        done = store.execute(
            "select count(distinct place) from check_results join runs on runs.id = run where outcome is not null"
        ).fetchone()[0]
        finished = Counter(row[0] for row in store.execute("select candidate from runs where outcome is not null"))
        unfinished = store.execute("select count(*) from runs where outcome is null").fetchone()[0]
        outcomes = Counter(row[0] for row in store.execute("select outcome from runs where outcome is not null"))
    repeated = sum(count - 1 for count in finished.values())
    print(f"{done} of {candidates} candidates have a verdict: {candidates - done} lost, {repeated} runs repeated")
    print(f"{sum(finished.values())} finished runs of {len(finished)} sources, {unfinished} ended with the process")
    print(dict(outcomes))


if __name__ == "__main__":
    main()
