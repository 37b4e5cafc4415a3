"""Every figure that is claimed of a GPU, in one run: the loop, the clock's truth, its resolution, and the cheats.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.evidence [--saves 20] [--pairs 40] [--runs 20]

One after another, since whatever shares the device would be measured too.  What the parts print while
they work goes to standard error; their tables come last, on standard output.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time


def table_of(module: str, *arguments: str) -> tuple[str, int]:
    """The output of a program of this folder, which is also written to stderr as it comes, and its exit status."""
    started = time.perf_counter()
    lines: list[str] = []
    command = [sys.executable, "-u", "-m", f"tests.benchmarks.gpu.{module}", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stderr.write(line)
            lines.append(line)
    took_s = time.perf_counter() - started
    return f"==== {module} {' '.join(arguments)} ({took_s:.0f} s)\n{''.join(lines)}", process.returncode


def main() -> int:
    """Run the parts, print their tables, and fail when one of them did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=20, help="saves of the sample for each row of the latency table")
    parser.add_argument("--pairs", type=int, default=40, help="comparisons of a kernel with itself")
    parser.add_argument("--runs", type=int, default=20, help="comparisons with a kernel made slower")
    arguments = parser.parse_args()
    parts = (
        table_of("bench_clock", "--pairs", str(arguments.pairs), "--runs", str(arguments.runs)),
        table_of("bench_loop", "--saves", str(arguments.saves), "--timed", "1"),
    )
    print(*(table for table, _ in parts), sep="\n")
    return max(code for _, code in parts)


if __name__ == "__main__":
    sys.exit(main())
