"""Tasks of KernelBench on a GPU: verdicts of large tensors, times of references, and candidates a second.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.suites [--parts large timed many] [--rows 512] [--candidates 48] [--jobs 8]
        [--limit-s 90]

Each result is printed as it comes; a part that takes longer than its limit is ended, with the rates up to then.

The first table is of the softmax of the sample suite with so many rows of its own width, in a warm engine: what one
more candidate takes, beside the time to draw five sets of inputs, move them to the device, and compute the reference
and the kernel on them; and the same without engine, step by step (bench_references.py).  The second has the times of
candidates and references in a batch with timing, the speed-ups, and the headline metric.  The third is of the small
addition of that suite, each candidate with another comment; the first results, before which engines start, are left
out of the rate.  Below it are the stages of the last candidate and what they waited for.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    parser.add_argument("--limit-s", type=float, default=90.0, help="the most seconds of each part")
    options = parser.parse_args()
    where = Where(device=options.device, limit_s=options.limit_s)
    if "many" in options.parts:
        throughput(options.candidates, options.jobs, where)
    if "large" in options.parts:
        own_size(options.rows, where)
        steps = (sys.executable, str(STEPS), "--device", options.device, "--rows", str(options.rows))
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(steps, check=False, timeout=options.limit_s)
    if "timed" in options.parts:
        timed(where)


@dataclass(frozen=True, kw_only=True)
class Where:
    """The device, and the most seconds that a part may take on it."""

    device: str
    limit_s: float


def own_size(rows: int, where: Where) -> None:
    """Print what a candidate takes in a warm engine, and what the task alone does."""
    kernel, device = KERNELS / "kernelbench_softmax.py", where.device
    candidates = _rows("23_Softmax.py", kernel.read_text(), 5)
    times_s, outcomes = results(candidates, ("--size", f"batch_size={rows}"), where, jobs=1)
    one_s = sorted(late - early for early, late in itertools.pairwise(times_s))
    print(f"softmax of {rows} rows: {outcomes}, {[round(each, 2) for each in one_s]} s after the first", flush=True)
    if device != "cpu" and one_s:
        task = SUITE / "KernelBench" / "level1" / "23_Softmax.py"
        command = (sys.executable, "-c", ALONE, str(task), str(kernel), str(rows), device, str(DRAWS))
        alone_s = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ratio = one_s[len(one_s) // 2] / alone_s
        print(f"the task alone, {DRAWS} draws: {alone_s:.2f} s; ratio {ratio:.2f}", flush=True)


def timed(where: Where) -> None:
    """Print what candidates and references take, and what a batch with timing comes to."""
    ends_s = time.perf_counter() + where.limit_s
    softmax, addition = KERNELS / "kernelbench_softmax.py", KERNELS / "kernelbench_scaled_add.py"
    sizes = ("--size", f"batch_size={TIMED_ROWS}")
    for operator, kernel, arguments in (("level1/1_Scaled_add", addition, ()), ("level1/23_Softmax", softmax, sizes)):
        with tempfile.TemporaryDirectory() as home:
            command = [sys.executable, "-m", "kgtui", "bench", str(kernel), "--suite", str(SUITE), "--op", operator,
                       "--device", where.device, *arguments]  # fmt: skip
            began_s, environment = time.perf_counter(), {**os.environ, "KGTUI_HOME": home}
            left_s = max(1.0, ends_s - began_s)
            try:
                found = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=left_s)
            except subprocess.TimeoutExpired:
                print(f"bench {operator}: ended after {left_s:.0f} s, the limit of the part", flush=True)
                return
        took_s = time.perf_counter() - began_s
        print(f"bench {operator}, {took_s:.1f} s\n{found.stdout[-3000:]}{found.stderr[-1000:]}", flush=True)
    rows = [
        *_rows("1_Scaled_add.py", addition.read_text(), 2), *_rows("23_Softmax.py", softmax.read_text(), 2),
        *_rows("23_Softmax.py", softmax.read_text().replace("* scale", "* scale * 1.01"), 1),
    ]  # fmt: skip
    left = replace(where, limit_s=max(1.0, ends_s - time.perf_counter()))
    for line in documents(rows, sizes, left, jobs=1, is_timed=True):
        wanted = ("operator", "verdict", "speedup", "headlines", "groups")
        print(json.dumps({name: line[name] for name in wanted if name in line})[:2500], flush=True)


def throughput(count: int, jobs_of_runs: Sequence[int], where: Where) -> None:
    """Print candidates a second by the number of jobs."""
    addition = (KERNELS / "kernelbench_scaled_add.py").read_text()
    print(f"{count} candidates for level1/1_Scaled_add, {os.cpu_count()} cores\n{'jobs':>4} {'candidates/s':>13}")
    for jobs in jobs_of_runs:
        times_s, outcomes = results(_rows("1_Scaled_add.py", addition, count), (), where, jobs=jobs)
        first = max(WARM, jobs)
        if len(times_s) <= first:
            print(f"{jobs:4} no rate: {len(times_s)} results within {where.limit_s:g} s  {outcomes}", flush=True)
            continue
        rate = (len(times_s) - first) / (times_s[-1] - times_s[first - 1])
        print(f"{jobs:4} {rate:13.2f}  {outcomes}, {times_s[-1]:.1f} s in all", flush=True)


def results(
    rows: Sequence[dict[str, object]], arguments: Sequence[str], where: Where, *, jobs: int
) -> tuple[list[float], dict[str, int]]:
    """When each result came, in seconds, and how many candidates ended how; prints each as it comes."""
    began_s, times_s, outcomes = time.perf_counter(), list[float](), dict[str, int]()
    for found in documents(rows, arguments, where, jobs=jobs):
        if found.get("kind") == "result":
            times_s.append(time.perf_counter() - began_s)
            outcome = str(found["verdict"])
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            print(f"     {times_s[-1]:8.2f} s {outcome}, run of {found['elapsed_s']:.2f} s", flush=True)
    return times_s, outcomes


def documents(
    rows: Sequence[dict[str, object]], arguments: Sequence[str], where: Where, *, jobs: int, is_timed: bool = False
) -> Iterator[dict[str, object]]:
    """The documents of a batch of these rows, as they come; those that come within the limit."""
    with tempfile.TemporaryDirectory() as folder:
        file, environment = Path(folder) / "rows.jsonl", {**os.environ, "KGTUI_HOME": folder}
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        command = [sys.executable, "-m", "kgtui", "check", "--candidates", str(file), "--suite", str(SUITE), "--json",
                   "--device", where.device, "--jobs", str(jobs), *arguments]  # fmt: skip
        if not is_timed:
            command.append("--no-timing")
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
            assert child.stdout is not None
            limit = threading.Timer(where.limit_s, child.terminate)
            limit.start()
            try:
                yield from (json.loads(line) for line in child.stdout if line.startswith(b"{"))
            finally:
                limit.cancel()
        if not is_timed:
            _print_timeline(environment)


def _print_timeline(environment: dict[str, str]) -> None:
    """Print the stages of the newest run and the kinds of work in it, each with when it was done."""
    command = (sys.executable, "-m", "kgtui", "sessions", "show", "--json")
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    if found.returncode:
        return
    run = json.loads(found.stdout)
    print(
        "     stages of the newest run, s: "
        + ", ".join(f"{each['stage']} {each['elapsed_s']:.2f}" for each in run["stages"])
    )
    for each in run["profile"] or ():
        times = f"{each['began_s']:7.2f} to {each['ended_s']:7.2f} s, busy {each['busy_s']:7.2f} s"
        print(f"     {each['name']:24} {each['count']:4} times, {times}", flush=True)


def _rows(task: str, text: str, count: int) -> list[dict[str, object]]:
    return [{"file": task, "predict": f"{text}\n# {number}\n"} for number in range(1, count + 1)]


if __name__ == "__main__":
    main()
