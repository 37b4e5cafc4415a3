"""Tasks of KernelBench on a GPU: seconds of a verdict beside those of the task alone, and candidates a second.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python tests/benchmarks/gpu/suites.py [--device cuda] [--rows 512] [--candidates 48] [--jobs 1 4 8]

The first table is of the softmax of the sample suite with so many rows of its own width, in a warm engine: what one
more candidate takes, beside the time to draw five sets of inputs, move them to the device, and compute the reference
and the kernel on them.  The second is of the small addition of that suite, each candidate with another comment; the
first results, before which engines start, are left out of the rate.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"
SUITE = Path(__file__).parents[2] / "problems" / "samples" / "kernelbench"
WARM, DRAWS = 3, 5

ALONE = """\
import importlib.util, sys, time, torch
def module(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
task, kernel, rows, device = module(sys.argv[1], "task"), module(sys.argv[2], "kernel"), int(sys.argv[3]), sys.argv[4]
task.batch_size = rows
reference, candidate = task.Model().to(device), kernel.ModelNew().to(device)
def once():
    inputs = [value.to(device) for value in task.get_inputs()]
    return torch.allclose(reference(*inputs), candidate(*inputs), atol=1e-4)
assert once()
torch.cuda.synchronize()
started = time.perf_counter()
assert all(once() for _ in range(int(sys.argv[5])))
torch.cuda.synchronize()
print(time.perf_counter() - started)
"""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 4, 8])
    options = parser.parse_args()
    own_size(options.rows, options.device)
    throughput(options.candidates, options.jobs, options.device)


def own_size(rows: int, device: str) -> None:
    """Print what a candidate takes in a warm engine, and what the task alone does."""
    kernel = KERNELS / "kernelbench_softmax.py"
    candidates = _rows("23_Softmax.py", kernel.read_text(), 5)
    times_s, outcomes = results(candidates, ("--size", f"batch_size={rows}"), device, jobs=1)
    one_s = sorted(late - early for early, late in itertools.pairwise(times_s[1:]))
    print(f"softmax of {rows} rows: {outcomes}, first {times_s[0]:.2f} s, then {[round(each, 2) for each in one_s]} s")
    if device != "cpu":
        task = SUITE / "KernelBench" / "level1" / "23_Softmax.py"
        command = (sys.executable, "-c", ALONE, str(task), str(kernel), str(rows), device, str(DRAWS))
        alone_s = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ratio = one_s[len(one_s) // 2] / alone_s
        print(f"the task alone, {DRAWS} draws: {alone_s:.2f} s; ratio {ratio:.2f}", flush=True)


def throughput(count: int, jobs_of_runs: Sequence[int], device: str) -> None:
    """Print candidates a second by the number of jobs."""
    addition = (KERNELS / "kernelbench_scaled_add.py").read_text()
    print(f"{count} candidates for level1/1_Scaled_add, {os.cpu_count()} cores\n{'jobs':>4} {'candidates/s':>13}")
    for jobs in jobs_of_runs:
        times_s, outcomes = results(_rows("1_Scaled_add.py", addition, count), (), device, jobs=jobs)
        first = max(WARM, jobs)
        rate = (len(times_s) - first) / (times_s[-1] - times_s[first - 1])
        print(f"{jobs:4} {rate:13.2f}  {outcomes}", flush=True)


def results(
    rows: Sequence[dict[str, object]], arguments: Sequence[str], device: str, *, jobs: int
) -> tuple[list[float], dict[str, int]]:
    """When each result came, in seconds, and how many candidates ended how."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        command = [sys.executable, "-m", "kgtui", "check", "--candidates", str(file), "--suite", str(SUITE), "--json",
                   "--device", device, "--no-timing", "--jobs", str(jobs), *arguments]  # fmt: skip
        began_s, times_s, outcomes = time.perf_counter(), list[float](), dict[str, int]()
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "KGTUI_HOME": folder}) as child:
            assert child.stdout is not None
            for line in child.stdout:
                found = json.loads(line) if line.startswith(b"{") else {}
                if found.get("kind") == "result":
                    times_s.append(time.perf_counter() - began_s)
                    outcome = str(found["verdict"])
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
        return times_s, outcomes


def _rows(task: str, text: str, count: int) -> list[dict[str, object]]:
    return [{"file": task, "predict": f"{text}\n# {number}\n"} for number in range(1, count + 1)]


if __name__ == "__main__":
    main()
