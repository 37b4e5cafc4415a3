"""PyTorch's own answer of every problem on a real device, against the reference on the CPU.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.eager [--device cuda] [--match PATTERN]

Each SMOKE and FULL case is drawn and its reference computed on the CPU; `eager` runs on the device, on copies of the
arguments with their strides.  A line is printed for each problem with a wrong or
failing case, then the counts; the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from functools import partial

import torch

from problems.catalogue import Catalogue
from problems.rules.trial import Trial
from problems.rules.values import each_tensor
from tests.operators import NAMES


def on_device(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """A copy of a tensor and of all its storage on another device, with the same strides and offset."""
    storage = tensor.untyped_storage().to(device=torch.device(device))
    empty = torch.empty(0, dtype=tensor.dtype, device=device)
    return empty.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def wrong_cases(name: str, device: str) -> tuple[int, list[str]]:
    """How many cases of a problem ran, and a line for each that is wrong or fails."""
    catalogue = Catalogue()
    problem = catalogue.load(name)
    trial = Trial(problem, catalogue.describe(name))
    wrong = []
    for case in trial.cases:
        by_name = dict(zip(problem.arguments, trial.copies(case), strict=True))
        kept = {key: by_name[key] for key in problem.on_cpu}
        moved = each_tensor(tuple(by_name.values()), partial(on_device, device=device))
        arguments = tuple(
            kept.get(key, device if value == "cpu" else value) for key, value in zip(by_name, moved, strict=True)
        )
        try:
            outputs = tuple(output.cpu() for output in trial.eager_on(arguments))
            if not trial.accepts(case, outputs):
                wrong.append(f"{case.name}: outside of the tolerance")
        except (RuntimeError, ValueError, NotImplementedError, TypeError) as error:
            wrong.append(f"{case.name}: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
    return len(trial.cases), wrong


def main() -> int:
    """Run every chosen problem and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--match", default="*")
    options = parser.parse_args()
    started, cases, right = time.perf_counter(), 0, 0
    chosen = [name for name in NAMES if fnmatch.fnmatch(name, options.match)]
    for name in chosen:
        count, wrong = wrong_cases(name, options.device)
        cases, right = cases + count, right + (not wrong)
        if wrong:
            print(f"{name}: {len(wrong)} of {count}: {'; '.join(wrong[:3])}", flush=True)
    seconds = time.perf_counter() - started
    print(f"{right} of {len(chosen)} problems agree on {options.device}, {cases} cases, {seconds:.0f} s")
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
