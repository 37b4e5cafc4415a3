"""Candidates a second of `kgtui check --candidates` on one warm engine: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_batch [CANDIDATES] [JOBS ...].  Each candidate is the sample
kernel with another comment, verified on the CPU in its smoke cases; the first results, before which engines start, are
left out of the rate.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM = 4  # results before the clock starts
CANDIDATES, JOBS = 60, (1, 2)


def main() -> None:
    """Print the table."""
    candidates = int(sys.argv[1]) if len(sys.argv) > 1 else CANDIDATES
    if candidates <= WARM:
        sys.exit(f"{candidates} candidates: more than {WARM} are needed for a rate")
    print(f"{candidates} candidates for aten::softmax, cases=smoke, {os.cpu_count()} cores")
    print(f"{'jobs':>4} {'first result s':>15} {'candidates/s':>13}")
    for jobs in tuple(map(int, sys.argv[2:])) or JOBS:
        first_s, rate = measure(candidates, jobs)
        print(f"{jobs:4} {first_s:15.1f} {rate:13.2f}")


def measure(candidates: int, jobs: int) -> tuple[float, float]:
    """Seconds until the first result, and candidates a second after the first ones."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        rows.write_text("".join(f"{json.dumps(row)}\n" for row in _rows(candidates)))
        command = [sys.executable, "-m", "kgtui", "check", "--candidates", str(rows), "--cases", "smoke",
                   "--device", "cpu", "--target", "none", "--json", "--jobs", str(jobs)]  # fmt: skip
        began_s, times_s = time.perf_counter(), list[float]()
        environment = {**os.environ, "KGTUI_HOME": folder}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as child:
            assert child.stdout is not None
            times_s += [time.perf_counter() - began_s for line in child.stdout if b'"kind":"result"' in line]
    warm = times_s[WARM:]
    return times_s[0], len(warm) / (warm[-1] - times_s[WARM - 1])


def _rows(candidates: int) -> list[dict[str, object]]:
    import kgtui

    sample = (Path(kgtui.__file__).parent / "samples" / "softmax.py").read_text()
    return [{"op": "aten::softmax", "sample": n, "source": f"{sample}\n# {n}\n"} for n in range(1, candidates + 1)]


if __name__ == "__main__":
    main()
