"""How outputs of the honest corpus differ between the machine, Triton's interpreter and a GPU.

    python -m tests.benchmarks.differences [--sides machine interpreter gpu] [--jobs N] [--every N] [NAME ...]

Each side runs the kernels in processes of its own, on the same inputs, which leave their outputs in files.  For each
pair of sides the table has the kernels whose outputs are not equal to the bit, with the largest distance in units in
the last place of the output's type; integers and booleans count as different or not.  A line below counts the kernels.
Random operators and memory that is not initialised differ on any two sides.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.judge.compare.measures import INTEGER_OF, ordered, ulps
from engine.model import PointerArray, Tier
from engine.protocol.tensors import tensors_in
from tests.candidates import candidates, stated
from tests.operators import definition

MACHINE, INTERPRETER, GPU = "machine", "interpreter", "gpu"
SEED = 20_261
SIDE_S = 3600

# Outputs by "kernel/case", and None where the entry failed: Any in the files that torch writes.


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What two sides have in common on one kernel: `equal` of `outputs` to the bit, at most `ulps` apart."""

    outputs: int
    equal: int
    ulps: int


def load(path: Path) -> ModuleType:
    """The candidate as a module."""
    spec = importlib.util.spec_from_file_location(f"candidate_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_side(side: str, file: Path, names: Sequence[str]) -> None:
    """Run every kernel on every smoke case, and write outputs and seconds by kernel to `file`."""
    if side != GPU:
        sys.argv = [sys.argv[0], side]  # which decides what the launches of the scenarios install
        from tests.engine.worker.scenarios.launching import LAUNCHES

        LAUNCHES.install()
        LAUNCHES.begin_call({})
    device = torch.device("cuda" if side == GPU else "cpu")
    outputs: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for path in chosen(names):
        problem = definition(stated(path).op)
        started = time.perf_counter()
        for case in problem.cases:
            if case.tier is Tier.SMOKE:
                outputs[f"{path.stem}/{case.name}"] = _outputs(path, problem, case, device)
        seconds[path.stem] = time.perf_counter() - started
    torch.save({"outputs": outputs, "seconds": seconds}, file)


def chosen(names: Sequence[str]) -> list[Path]:
    """The honest kernels with these names, all of them where none is named."""
    return [path for path in candidates("honest") if not names or path.stem in names]


def _outputs(path: Path, problem: Any, case: Any, device: torch.device) -> list[torch.Tensor] | None:
    """What the entry returns and writes in place; None where it cannot be run on this side."""
    inputs = problem.make_inputs(case, torch.Generator().manual_seed(SEED))
    if any(isinstance(value, PointerArray) for value in inputs):
        return None  # only a worker makes addresses of them
    arguments = [value.to(device) if isinstance(value, torch.Tensor) else value for value in inputs]
    try:
        returned = getattr(load(path), problem.entry)(*arguments)
    except Exception as error:  # a kernel that one side cannot run has no outputs there
        print(f"{path.stem} {case.name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return None
    written = [value for name, value in zip(problem.arguments, arguments, strict=True) if name in problem.mutates]
    return [tensor.cpu().contiguous() for tensor in tensors_in([returned, *written])]


def differences(one: dict[str, Any], other: dict[str, Any]) -> Iterator[tuple[str, Difference]]:
    """Each kernel that ran on both sides, with the difference over its cases."""
    for kernel, keys in itertools.groupby(one, key=lambda key: key.partition("/")[0]):
        pairs = [
            pair for key in keys if one[key] is not None and other.get(key) is not None
            for pair in zip(one[key], other[key], strict=True)
        ]  # fmt: skip
        if pairs:
            distances = [distance(*pair) for pair in pairs]
            yield kernel, Difference(outputs=len(pairs), equal=distances.count(0), ulps=max(distances))


def distance(one: torch.Tensor, other: torch.Tensor) -> int:
    """The largest distance in units in the last place; 0 or 1 for types without such."""
    if one.numel() == 0 or torch.equal(one, other):
        return 0
    one, other = (torch.view_as_real(part) if part.is_complex() else part for part in (one, other))
    if one.dtype not in INTEGER_OF or not one.is_floating_point():
        return 1
    unlike = ~(one.isnan() & other.isnan())
    return int(ulps(ordered(one), ordered(other))[unlike].max()) if bool(unlike.any()) else 0


def outputs_of(side: str, names: Sequence[str], *, jobs: int, folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Outputs and seconds of the kernels on one side, which so many processes run at once."""
    running = []
    for number in range(min(jobs, len(names))):
        file = folder / f"{side}-{number}"
        command = [sys.executable, "-m", "tests.benchmarks.differences", "--side", side, "--file", str(file)]
        running.append((file, subprocess.Popen([*command, *names[number::jobs]])))
    outputs: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for file, process in running:
        if process.wait(timeout=SIDE_S) != 0:
            print(f"{side}: a process ended with {process.returncode}; its kernels are left out", file=sys.stderr)
            continue
        left = torch.load(file)
        outputs |= left["outputs"]
        seconds |= left["seconds"]
    return outputs, seconds


def main(options: argparse.Namespace) -> None:
    """Run every side, then print the differences of each pair."""
    names = [path.stem for path in chosen(options.names)][:: options.every]
    with tempfile.TemporaryDirectory() as folder:
        left = {side: outputs_of(side, names, jobs=options.jobs, folder=Path(folder)) for side in options.sides}
    print(f"{'kernel':<40} {'sides':<22} {'equal':>9} {'ulps':>14} {'seconds':>15}")
    for one, other in itertools.combinations(options.sides, 2):
        found = sorted(differences(left[one][0], left[other][0]), key=lambda row: row[1].ulps)
        for kernel, difference in found:
            if difference.ulps:
                taken = " ".join(f"{left[side][1][kernel]:.2f}" for side in (one, other))
                equal = f"{difference.equal}/{difference.outputs}"
                print(f"{kernel:<40} {f'{one} {other}':<22} {equal:>9} {difference.ulps:>14,} {taken:>15}")
        equal_kernels = sum(not difference.ulps for _, difference in found)
        outputs = sum(difference.outputs for _, difference in found)
        equal_outputs = sum(difference.equal for _, difference in found)
        print(
            f"{one} and {other}: {equal_kernels} of {len(found)} kernels and {equal_outputs} of {outputs} outputs are "
            f"equal to the bit; {len(names) - len(found)} kernels did not run on both"
        )


def arguments() -> argparse.Namespace:
    """The options; `--side` and `--file` are those of a process that runs the kernels of one side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="honest kernels of the corpus; all of them without one"
    )
    parser.add_argument("--sides", nargs="+", choices=(MACHINE, INTERPRETER, GPU), default=[MACHINE, INTERPRETER])
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th of the kernels")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    asked = arguments()
    if asked.side:
        run_side(asked.side, asked.file, asked.names)
    else:
        main(asked)
