"""How outputs of the honest corpus differ between the machine, Triton's interpreter and a GPU.

    python -m tests.benchmarks.differences [--gpu] [NAME ...]

Each side runs all kernels in a process of its own, on the same inputs, and leaves its outputs in a file.  The table
has, for each kernel and pair of sides, how many outputs are equal to the bit, and the largest distance in units in the
last place of the output's type; integers and booleans count as different or not.  Without a GPU `--gpu` fails.
"""

from __future__ import annotations

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


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    sides = [MACHINE, INTERPRETER, *([GPU] if "--gpu" in sys.argv else [])]
    left: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for side in sides:
            file = Path(folder) / side
            command = [sys.executable, "-m", "tests.benchmarks.differences", f"--side={side}", f"--file={file}", *names]
            subprocess.run(command, check=True, timeout=SIDE_S)
            left[side] = torch.load(file)
    print(f"{'kernel':<40} {'sides':<22} {'equal':>9} {'ulps':>12} {'seconds':>15}")
    for one, other in itertools.combinations(sides, 2):
        for kernel, found in differences(left[one]["outputs"], left[other]["outputs"]):
            taken = " ".join(f"{left[side]['seconds'][kernel]:.2f}" for side in (one, other))
            equal = f"{found.equal}/{found.outputs}"
            print(f"{kernel:<40} {f'{one} {other}':<22} {equal:>9} {found.ulps:>12,} {taken:>15}")


if __name__ == "__main__":
    asked = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--") and "=" in word)
    if "side" in asked:
        run_side(asked["side"], Path(asked["file"]), [word for word in sys.argv[1:] if not word.startswith("--")])
    else:
        main()
