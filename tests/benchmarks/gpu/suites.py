"""Tasks of KernelBench on a GPU: verdicts of large tensors, times of references, and candidates a second.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python tests/benchmarks/gpu/suites.py [--parts large timed many] [--rows 512] [--candidates 48] [--jobs 8]

The first table is of the softmax of the sample suite with so many rows of its own width, in a warm engine: what one
more candidate takes, beside the time to draw five sets of inputs, move them to the device, and compute the reference
and the kernel on them; and the same without engine, step by step (bench_references.py).  The second has the times of
candidates and references in a batch with timing, the speed-ups, and the headline metric.  The third is of the small
addition of that suite, each candidate with another comment; the first results, before which engines start, are left
out of the rate.
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
from collections.abc import Iterator, Sequence
from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"
SUITE = Path(__file__).parents[2] / "problems" / "samples" / "kernelbench"
STEPS = Path(__file__).parents[1] / "bench_references.py"
WARM, DRAWS = 3, 5
TIMED_ROWS = 16

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
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", choices=("large", "timed", "many"), default=["large", "timed", "many"])
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--jobs", type=int, nargs="+", default=[8])
    options = parser.parse_args()
    if "large" in options.parts:
        own_size(options.rows, options.device)
        steps = (sys.executable, str(STEPS), "--device", options.device, "--rows", str(options.rows))
        subprocess.run(steps, check=False)
    if "timed" in options.parts:
        timed(options.device)
    if "many" in options.parts:
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


def timed(device: str) -> None:
    """Print what candidates and references take, and what a batch with timing comes to."""
    softmax, addition = KERNELS / "kernelbench_softmax.py", KERNELS / "kernelbench_scaled_add.py"
    sizes = ("--size", f"batch_size={TIMED_ROWS}")
    for operator, kernel, arguments in (("level1/1_Scaled_add", addition, ()), ("level1/23_Softmax", softmax, sizes)):
        with tempfile.TemporaryDirectory() as home:
            command = [sys.executable, "-m", "kgtui", "bench", str(kernel), "--suite", str(SUITE), "--op", operator,
                       "--device", device, *arguments]  # fmt: skip
            found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "KGTUI_HOME": home})
        print(f"bench {operator}\n{found.stdout[-3000:]}{found.stderr[-1000:]}", flush=True)
    rows = [
        *_rows("1_Scaled_add.py", addition.read_text(), 2), *_rows("23_Softmax.py", softmax.read_text(), 2),
        *_rows("23_Softmax.py", softmax.read_text().replace("* scale", "* scale * 1.01"), 1),
    ]  # fmt: skip
    for line in documents(rows, sizes, device, jobs=1, is_timed=True):
        wanted = ("operator", "verdict", "speedup", "headlines", "groups")
        print(json.dumps({name: line[name] for name in wanted if name in line})[:2500], flush=True)


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
    began_s, times_s, outcomes = time.perf_counter(), list[float](), dict[str, int]()
    for found in documents(rows, arguments, device, jobs=jobs):
        if found.get("kind") == "result":
            times_s.append(time.perf_counter() - began_s)
            outcome = str(found["verdict"])
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return times_s, outcomes


def documents(
    rows: Sequence[dict[str, object]], arguments: Sequence[str], device: str, *, jobs: int, is_timed: bool = False
) -> Iterator[dict[str, object]]:
    """The documents of a batch of these rows, as they come."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        command = [sys.executable, "-m", "kgtui", "check", "--candidates", str(file), "--suite", str(SUITE), "--json",
                   "--device", device, "--jobs", str(jobs), *arguments]  # fmt: skip
        if not is_timed:
            command.append("--no-timing")
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "KGTUI_HOME": folder}) as child:
            assert child.stdout is not None
            yield from (json.loads(line) for line in child.stdout if line.startswith(b"{"))


def _rows(task: str, text: str, count: int) -> list[dict[str, object]]:
    return [{"file": task, "predict": f"{text}\n# {number}\n"} for number in range(1, count + 1)]


if __name__ == "__main__":
    main()
