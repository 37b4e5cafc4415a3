"""Tasks of KernelBench with large tensors: what a verdict costs judge and reference process, beside the task alone.

Run it as a program:

    python -m tests.benchmarks.bench_references [--device cpu] [--rows 64 256 512] [--draws 5]

Starts a reference process, unconfined, and does in this process what the judge does for a candidate whose outputs are
those of torch: draw inputs, compute the expected outputs, compare, and apply the suite's own rule.  The first table has
the seconds of each step over all draws, and their sum beside the time that the task alone needs to make as many inputs
and to compute reference, candidate and `allclose` on them.  The second has the rate of transfers in both directions.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from engine.judge.compare.outputs import Call, reports_of
from engine.judge.inputs.cases import Contents
from engine.judge.inputs.outputs import output_names
from engine.judge.reference import Reference, reference_at
from engine.model import CalledCase, Outcome, Precision
from engine.protocol.reference import ANSWERS
from engine.sandbox.variables import DEVICE_VARIABLE
from problems.suites.definition import attached
from problems.suites.plan import PlannedTask, planned
from problems.suites.settings import SuiteChoice
from problems.suites.source import SuiteSource, suite_at

SUITE = Path(__file__).parents[1] / "problems" / "samples" / "kernelbench"
TASK = "kernelbench::level1/23_Softmax"
CHILD = """\
import os, sys
from engine.reference.main import serve
os.chdir(sys.argv[1])
serve(int(sys.argv[2]), int(sys.argv[3]), ())
"""
ALLOWED_S = 900.0


@dataclass(kw_only=True)
class Steps:
    """Seconds by what they went into."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add what happens inside to the step."""
        started = time.perf_counter()
        yield
        _synchronise()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 256, 512])
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(2)
    for rows in options.rows:
        with reference_process(options.device) as reference:
            verdict(reference, torch.device(options.device), rows, options.draws)


@contextlib.contextmanager
def reference_process(device: str) -> Iterator[Reference]:
    """The judge's end of a reference process that was started for it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        reads, writes = os.pipe()
        command = [sys.executable, "-c", CHILD, folder, "0", str(writes)]
        environment = {**os.environ, DEVICE_VARIABLE: device}
        with subprocess.Popen(command, pass_fds=(writes,), stdin=subprocess.PIPE, env=environment) as child:
            os.close(writes)
            os.read(reads, 1 << 16)
            assert Path(folder, ANSWERS).exists()
            reference = reference_at(Path(folder), torch.device(device), pid=child.pid)
            reference.allow(ALLOWED_S)
            yield reference
            reference.close()


def verdict(reference: Reference, device: torch.device, rows: int, draws: int) -> None:
    """Print what the draws of the softmax with so many rows cost."""
    source = suite_at(SUITE, choice=SuiteChoice(path=SUITE, format="", sizes={"batch_size": rows}))
    steps = Steps()
    with steps.step("attach"):
        problem = attached(_planned(source), reference).definition
    attaching_s = steps.seconds.pop("attach")
    contents = Contents(device)
    for case in problem.cases[:draws]:
        with steps.step("draw"):
            content = contents.make(problem, case, 17)
        with steps.step("expect"):
            expected = content.expected
        got = torch.softmax(content.inputs[0], dim=1)
        with steps.step("compare"):
            call = Call(
                problem=problem, case=case, arguments=content.inputs, got=[got], expected=expected,
                names=output_names(problem, content.specs, expected),
            )  # fmt: skip
            (report,) = reports_of(call, poison=1)
        with steps.step("own rule"):
            assert problem.passes_own_rule is not None
            passes = problem.passes_own_rule(
                CalledCase(case=case, arguments=content.inputs, outputs=(got,), expected=expected)
            )
        assert report.outcome is Outcome.PASS and passes
    alone_s, total_s = _alone(device, rows, draws), sum(steps.seconds.values())
    size_bytes = rows * 393_216 * 4
    each = "  ".join(f"{name} {seconds:.2f}" for name, seconds in steps.seconds.items())
    print(f"{rows} rows, {size_bytes / 1e9:.2f} GB of inputs, {draws} draws on {device}: attach {attaching_s:.2f} s")
    print(f"  {each}")
    print(f"  sum {total_s:.2f} s, the task alone {alone_s:.2f} s, ratio {total_s / alone_s:.2f}")
    _print_rates(reference, content.inputs, size_bytes)


def _print_rates(reference: Reference, inputs: tuple[object, ...], size_bytes: int) -> None:
    """Print how fast a draw and a computation with another argument go, computing included."""
    started = time.perf_counter()
    reference.draw(seed=1, weight_seed=2)
    drawn_s = time.perf_counter() - started
    started = time.perf_counter()
    reference.expected(inputs, Precision.OWN)  # type: ignore[arg-type]  # as a content has them
    computed_s = time.perf_counter() - started
    print(
        f"  one draw {drawn_s:.2f} s ({size_bytes / drawn_s / 1e9:.2f} GB/s with making them), "
        f"one run {computed_s:.2f} s ({2 * size_bytes / computed_s / 1e9:.2f} GB/s with computing)",
        flush=True,
    )


def _alone(device: torch.device, rows: int, draws: int) -> float:
    """Seconds to make and compute as many inputs without kgtui."""
    started = time.perf_counter()
    for _ in range(draws):
        x = torch.rand(rows, 393_216).to(device)
        assert torch.allclose(torch.softmax(x, dim=1), torch.softmax(x, dim=1), atol=1e-4)
    _synchronise()
    return time.perf_counter() - started


def _synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _planned(source: SuiteSource) -> PlannedTask:
    return planned(source.task(TASK), source.format, source.choice)


if __name__ == "__main__":
    main()
