"""Models side by side with timed kernels: the matrix and fast_p of two recorded models on two operators.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.models [--device cuda] [--limit-s 55]

With `--device cpu` the same is verified, and nothing is timed.  `fast` answers both operators correctly, `mixed` has a
correct silu that is slower, by a program for every 16 elements, and a softmax whose masked lanes contribute to the
sum.  Progress comes first, the matrix and the lines of fast_p last.  Ends with 1 where a verdict is another than these,
a correct kernel has no speed-up on a GPU, or fast_p rises with p.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import kgtui.generation.demo

ANSWERS = Path(kgtui.generation.demo.__file__).parent
OPERATORS = ("aten::silu", "aten::softmax")
FAST, MIXED = "fast", "mixed"
VERDICTS = {
    (FAST, "aten::silu"): "passed",
    (FAST, "aten::softmax"): "passed",
    (MIXED, "aten::silu"): "passed",
    (MIXED, "aten::softmax"): "wrong value",
}
WIDE_BLOCK, NARROW_BLOCK = "1024", "16"


def main() -> int:
    """Generate, compare and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit-s", type=float, default=55.0)
    chosen = parser.parse_args()
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.json"
        recording.write_text(json.dumps({"exchanges": exchanges()}))
        environment = os.environ | {"KGTUI_HOME": folder, "KGTUI_REPLAY": str(recording)}
        models = [option for name in (FAST, MIXED) for option in ("--model", f"replay:{name}")]
        command = [sys.executable, "-m", "kgtui"]
        target = ["--target", "none"] if chosen.device == "cpu" else []
        generate = [*command, "generate", *OPERATORS, *models, "--device", chosen.device, *target]
        try:
            subprocess.run(generate, env=environment, timeout=chosen.limit_s, check=False)
        except subprocess.TimeoutExpired:
            print(f"ended after {chosen.limit_s:g} s; the answers up to then follow")
        compare = [*command, "compare", *OPERATORS, "--models", "all", "--json"]
        compared = json.loads(subprocess.run(compare, env=environment, check=True, capture_output=True).stdout)
    print(f"\n{time.monotonic() - started_s:.1f} s on {chosen.device}")
    return report(compared, is_timed=chosen.device != "cpu")


def exchanges() -> list[dict[str, object]]:
    """The recorded answers, one of each model for each operator."""
    silu = (ANSWERS / "alpha-silu-1.md").read_text()
    answers = {
        (FAST, "aten::silu"): silu,
        (FAST, "aten::softmax"): (ANSWERS / "alpha-softmax-2.md").read_text(),
        (MIXED, "aten::silu"): silu.replace(WIDE_BLOCK, NARROW_BLOCK),
        (MIXED, "aten::softmax"): (ANSWERS / "alpha-softmax-1.md").read_text(),
    }
    shared = {"place": "sample-1", "input_tokens": 1, "output_tokens": 1}
    return [
        {"model": model, "prompt": operator, "answer": answer, **shared}
        for (model, operator), answer in answers.items()
    ]


def report(compared: dict[str, list[dict[str, object]]], *, is_timed: bool) -> int:
    """Print what is not as expected, then matrix and fast_p; the exit code."""
    cells = {(str(cell["model"]).partition(":")[2], str(cell["operator"])): cell for cell in compared["cells"]}
    faults = [
        f"{key}: {cells.get(key, {}).get('verdict')}, expected {verdict}"
        for key, verdict in VERDICTS.items()
        if cells.get(key, {}).get("verdict") != verdict
    ]
    if is_timed:
        correct = [key for key, verdict in VERDICTS.items() if verdict == "passed"]
        faults += [f"{key}: no speed-up" for key in correct if cells.get(key, {}).get("speedup") is None]
    rates = {str(row["model"]): row["fast"] for row in compared["metrics"] if row["group"] == "all"}
    lines = []
    for model, rate in rates.items():
        assert isinstance(rate, dict)
        shares = [share["value"] for share in rate.values()]
        faults += [f"{model}: fast_p rises with p: {shares}"] if any(a < b for a, b in pairwise(shares)) else []
        lines.append(f"{model:14} " + "  ".join(f"fast_{p} {share['value']:.2f}" for p, share in rate.items()))
    print(*(f"FAULT {fault}" for fault in faults), sep="\n")
    print("model          operator       verdict      speed-up over eager")
    for (model, operator), cell in sorted(cells.items()):
        speedup = cell["speedup"]
        shown = f"{speedup:.2f}" if isinstance(speedup, float) else "-"
        print(f"{model:14} {operator:14} {cell['verdict']!s:12} {shown}")
    print(*lines, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
